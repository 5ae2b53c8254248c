import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct RedactCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 6)
    }

    private func tool(_ arguments: String..., input: String? = nil) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder, input: Data((input ?? "").utf8))
    }

    private func document(_ run: ToolRun) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any], "\(run.errors)")
    }

    /// The text of the first message, and its name.
    private func first() throws -> (text: String, entity: String) {
        let state = try document(tool("replay", "L", "--json"))
        let message = try #require((state["messages"] as? [[String: Any]])?.first)
        let names = ["source", "channel", "id"].compactMap { message[$0] as? String }
        return (try #require(message["content"] as? String), "message:" + names.joined(separator: "/"))
    }

    @Test func itAsksForYes() throws {
        let (text, entity) = try first()
        let run = try tool("redact", "L", entity)
        #expect(run.exitCode == 4)
        #expect(run.errors.contains("--yes") && run.errors.contains("--dry-run"))
        #expect(try tool("replay", "L").output.contains(text))
        #expect(try tool("redact", "L", "--yes").exitCode == 2)
        #expect(try tool("redact", "L", entity, "--match", "x", "--yes").exitCode == 2)
        #expect(try tool("redact", "L", "message:nobody", "--yes").exitCode == 1)
        #expect(try tool("redact", "L", "--match", "not in this log", "--yes").exitCode == 1)
    }

    @Test func aMessageGoesAndTheActSaysWho() throws {
        let (text, entity) = try first()
        // With the tables that `sql` keeps beside the log.
        let question = ["sql", "L", "SELECT content FROM messages", "--csv"]
        #expect(try ToolRun.run(question, in: folder).output.contains(text))
        let root = try document(tool("root", "L", "--json"))
        let planned = try document(tool("redact", "L", entity, "--dry-run", "--json"))
        #expect(planned["act"] is NSNull && planned["scan"] is NSNull)
        let done = try document(tool("redact", "L", entity, "--yes", "--by", "ada", "--why", "asked by him", "--json"))
        #expect((planned["redacted"] as? NSArray) == (done["redacted"] as? NSArray))
        let act = try #require(done["act"] as? String)
        let event = try tool("export", "L", "--from", act).output
        #expect(event.contains("logtool.redact/1") && event.contains("asked by him") && event.contains("ada"))
        #expect(event.contains("substituteHash") && !event.contains(text))
        let history = try tool("history", "L", entity)
        #expect(history.output.contains("(redacted)") && !history.output.contains(text))
        #expect(try tool("verify", "L").exitCode == 0)
        // An earlier root is the root of the same events.
        let size = try #require(root["treeSize"] as? String)
        #expect(try document(tool("root", "L", "--size", size, "--json"))["root"] as? String == root["root"] as? String)
        // Nobody can bring the text back: neither the export nor any file has it.
        #expect(!(try tool("export", "L").output.contains(text)))
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path("L")) {
            guard let bytes = FileManager.default.contents(atPath: folder.path("L") + "/" + file) else { continue }
            #expect(bytes.range(of: Data(text.utf8)) == nil, "\(file)")
        }
        let answer = try ToolRun.run(question, in: folder).output
        #expect(answer.contains("(redacted)") && !answer.contains(text))
    }

    /// Killed at any time, the log is the old one or the new one, and a redaction that is asked for again leaves nothing behind.
    @Test func aKilledRedactionLeavesTheOldLogOrTheNewOne() throws {
        let text = try first().text
        let arguments = ["redact", "L", "--match", text, "--yes", "--quiet"]
        try FileManager.default.copyItem(atPath: folder.path("L"), toPath: folder.path("before"))
        let time = try ContinuousClock().measure { _ = try ToolRun.run(arguments, in: folder) }
        var random = SeededGenerator(seed: 9)
        for round in 0..<(ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 3 : 300) {
            try FileManager.default.removeItem(atPath: folder.path("L"))
            try FileManager.default.copyItem(atPath: folder.path("before"), toPath: folder.path("L"))
            try ToolRun.killed(arguments, in: folder, after: time, &random)
            #expect(try tool("verify", "L").exitCode == 0, "round \(round)")
            let export = try tool("export", "L").output
            #expect(export.contains(text) != export.contains("logtool.redact/1"), "round \(round)")
            let again = try ToolRun.run(arguments, in: folder)
            #expect(again.exitCode == (export.contains(text) ? 0 : 1), "\(again.errors)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("L"))
            #expect(names.count { $0.hasPrefix("gen-") } == 1, "\(names)")
            for name in names where name.hasPrefix("gen-") {
                let bytes = try Data(contentsOf: URL(filePath: folder.path("L/\(name)/data.mdb")))
                #expect(bytes.range(of: Data(text.utf8)) == nil, "round \(round)")
            }
        }
    }

    /// A killed rewrite may leave a generation with the originals, to which nothing refers. Asked again, a redaction removes it.
    @Test func whatAKilledOneLeftGoes() throws {
        let (text, _) = try first()
        try FileManager.default.copyItem(atPath: folder.path("L/gen-000001"), toPath: folder.path("old"))
        #expect(try tool("redact", "L", "--match", text, "--yes").exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path("L/gen-000001")))
        let left = folder.path("L/gen-000003")
        try FileManager.default.copyItem(atPath: folder.path("old"), toPath: left)
        let again = try tool("redact", "L", "--match", text, "--yes")
        #expect(again.exitCode == 1, "\(again.errors)")
        #expect(!FileManager.default.fileExists(atPath: left))
        #expect(try tool("verify", "L").exitCode == 0)
    }

    @Test func aTextComesFromStandardInput() throws {
        let (text, _) = try first()
        let run = try tool("redact", "L", "--match-file", "-", "--yes", input: text + "\n")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("the log has the texts nowhere"))
        #expect(!run.output.contains(text))
        #expect(!(try tool("replay", "L").output.contains(text)))
    }

    /// A cache that was made before holds the text until its next rebuild, which makes it anew and keeps no older one.
    @Test func aCacheIsMadeAnew() throws {
        let (text, entity) = try first()
        func rebuild() throws {
            let run = try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder)
            #expect(run.exitCode == 0, "\(run.errors)")
        }
        try rebuild()
        func hasText() throws -> Bool {
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path("."))
            return names.filter { $0.contains("sqlite") }.contains { name in
                let bytes = try? Data(contentsOf: URL(filePath: folder.path(name)).resolvingSymlinksInPath())
                return bytes?.range(of: Data(text.utf8)) != nil
            }
        }
        #expect(try hasText())
        #expect(try tool("redact", "L", entity, "--yes").exitCode == 0)
        try rebuild()
        #expect(try !hasText())
    }

    /// A redacted event's proof holds, and says that the text stands for another one.
    @Test func aProofOfARedactedEventHolds() throws {
        let (_, entity) = try first()
        let done = try document(tool("redact", "L", entity, "--yes", "--json"))
        let events = try #require(done["redacted"] as? [[String: Any]])
        let sequence = try #require(events.first?["sequence"] as? String)
        let proof = try tool("prove", "L", sequence, "--json")
        #expect(proof.exitCode == 0)
        _ = try folder.write(proof.output, to: "proof.json")
        let checked = try tool("prove", "--check", "proof.json")
        #expect(checked.exitCode == 0, "\(checked.errors)")
        #expect(checked.output.contains("its text is a substitute that the act"), "\(checked.output)")
    }
}
