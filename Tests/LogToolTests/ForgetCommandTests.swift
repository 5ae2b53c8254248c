import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct ForgetCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 8)
    }

    private func tool(_ arguments: String..., input: String? = nil) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder, input: Data((input ?? "").utf8))
    }

    private func document(_ run: ToolRun) throws -> [String: Any] {
        try #require(!run.output.isEmpty, "\(run.errors)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any],
            "\(run.errors)"
        )
    }

    /// The first author, and what they said.
    private func first() throws -> (author: String, texts: [String]) {
        let state = try document(tool("replay", "L", "--json"))
        let messages = try #require(state["messages"] as? [[String: Any]])
        let author = try #require(messages.first?["author"] as? String)
        return (author, messages.filter { $0["author"] as? String == author }.compactMap { $0["content"] as? String })
    }

    @Test func itAsksForYesAndForSomebody() throws {
        let author = try first().author
        let run = try tool("forget", "L", "--author", author)
        #expect(run.exitCode == 4 && run.errors.contains("--yes") && run.errors.contains("--dry-run"))
        #expect(try tool("forget", "L", "--yes").exitCode == 2)
        let nobody = try tool("forget", "L", "--author", "nobody at all", "--yes")
        #expect(nobody.exitCode == 1 && nobody.errors.contains(author), "\(nobody.errors)")
        #expect(try tool("forget", "L", "--author", author, "--source", "none", "--yes").exitCode == 1)
        #expect(try tool("verify", "L").exitCode == 0)
        #expect(!(try tool("export", "L").output.contains("logtool.redact/1")))
    }

    @Test func aPersonGoesAndTheCertificateHolds() throws {
        let (author, texts) = try first()
        #expect(!texts.isEmpty)
        let planned = try document(tool("forget", "L", "--author", author, "--dry-run", "--json"))
        #expect(planned["scan"] is NSNull && planned["complete"] as? Bool == false)
        #expect((planned["acts"] as? [Any])?.isEmpty == true)
        #expect(!(try tool("export", "L").output.contains("logtool.redact/1")))
        let run = try tool(
            "forget",
            "L",
            "--author",
            author,
            "--yes",
            "--by",
            "keeper",
            "--why",
            "was asked to",
            "--json",
            "--certificate",
            "c.json"
        )
        let done = try document(run)
        for name in ["events", "messages", "texts", "others"] {
            #expect(planned[name] as? Int == done[name] as? Int, "\(name)")
        }
        #expect(planned["held"] as? NSDictionary == done["held"] as? NSDictionary)
        #expect(run.exitCode == (done["complete"] as? Bool == true ? 0 : 1), "\(run.errors)")
        #expect(!run.output.contains(texts[0]))
        let written = try String(contentsOfFile: folder.path("c.json"), encoding: .utf8)
        #expect(written == run.output)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("c.json"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // With the log, without it, and beside another one.
        let checked = try tool("prove", "L", "--check", "c.json")
        #expect(checked.exitCode == 0 && checked.output.contains("the log has the act"), "\(checked.errors)")
        #expect(try tool("prove", "--check", "c.json").exitCode == 0)
        try FileManager.default.moveItem(atPath: folder.path("L"), toPath: folder.path("M"))
        try folder.makeLog(messages: 8)
        #expect(try tool("prove", "L", "--check", "c.json").exitCode == 1)
        // A file that is there stays.
        let again = try tool("forget", "L", "--author", author, "--yes", "--certificate", "c.json")
        #expect(again.exitCode == 4 && again.errors.contains("another file"), "\(again.errors)")
        #expect(try String(contentsOfFile: folder.path("c.json"), encoding: .utf8) == written)
    }

    /// The first run may be killed before it prints. The next one then names the act.
    @Test func whoIsForgottenIsToldByTheAct() throws {
        let author = try first().author
        _ = try tool("forget", "L", "--author", author, "--yes", "--by", "keeper")
        let acts = try tool("events", "L", "--kind", "logtool.redact/1", "--json").output
        let act = try #require(try JSONSerialization.jsonObject(with: Data(acts.utf8)) as? [[String: Any]]).last
        let sequence = try #require(act?["sequence"] as? String)
        let export = try tool("export", "L").output
        let again = try tool("forget", "L", "--author", author, "--yes")
        #expect(again.exitCode == 1 && again.errors.contains("act \(sequence) of "), "\(again.errors)")
        let pseudonym = try first().author
        #expect(pseudonym != author && again.errors.contains("now \(pseudonym)"), "\(again.errors)")
        let renamed = try tool("forget", "L", "--author", pseudonym, "--yes")
        #expect(renamed.exitCode == 1 && renamed.errors.contains("pseudonym of somebody whom act"), "\(renamed.errors)")
        #expect(try tool("export", "L").output == export)
    }

    /// What is altered in a certificate is found.
    @Test func anAlteredCertificateDoesNotHold() throws {
        let author = try first().author
        let dry = try tool("forget", "L", "--author", author, "--dry-run", "--json")
        let text = try tool("forget", "L", "--author", author, "--yes", "--by", "keeper", "--json").output
        _ = try folder.write(text, to: "c.json")
        #expect(try tool("prove", "--check", "c.json").exitCode == 0)
        let scan = try #require(text.firstRange(of: #""scan":{"#))
        let end = try #require(text[scan.upperBound...].firstRange(of: "]},\"held\""))
        let changes: [String] = [
            text.replacing(#""by":"keeper","#, with: #""by":"eve","#, maxReplacements: 1),
            text.replacing(#""complete":true"#, with: #""complete":false"#),
            text.replacing(#""complete":false"#, with: #""complete":true"#),
            text.replacing(#""forgotten":[""#, with: #""forgotten":["x"#, maxReplacements: 1),
            text.replacing(#""at":"#, with: #""at":"x","at":"#),
            String(text[..<scan.lowerBound]) + #""scan":null"#
                + String(text[text.index(end.lowerBound, offsetBy: 2)...]),
            text.replacing(#""events":"#, with: #""events":9"#, maxReplacements: 1),
            text.replacing(#""beyondReach""#, with: #""beyond""#),
        ]
        for (number, change) in changes.enumerated() where change != text {
            _ = try folder.write(change, to: "d\(number).json")
            let run = try tool("prove", "--check", "d\(number).json")
            #expect(run.exitCode != 0, "change \(number): \(run.output)")
        }
        _ = try folder.write(dry.output, to: "dry.json")
        #expect(try tool("prove", "--check", "dry.json").errors.contains("dry run"), "\(dry.errors)")
    }

    /// Archives beside the log are decompressed and searched, and told.
    @Test func anArchiveIsSearched() throws {
        let author = try first().author
        #expect(try tool("compact", "L", "--keep", "2", "--force").exitCode == 0)
        let run = try tool("forget", "L", "--author", author, "--yes", "--json")
        let done = try document(run)
        let scan = try #require(done["scan"] as? [String: Any])
        #expect(run.exitCode == 1 && done["complete"] as? Bool == false)
        #expect((scan["blocks"] as? Int ?? 0) > 0)
        let hits = try #require(scan["archiveHits"] as? [[String: Any]])
        #expect(hits.count == 1 && (done["archives"] as? [String]) == hits.compactMap { $0["path"] as? String })
    }

    /// Killed at any time, the log is the old one or the new one; asked again, nothing is left behind.
    @Test func aKilledOneLeavesTheOldLogOrTheNewOne() throws {
        let (author, texts) = try first()
        let arguments = ["forget", "L", "--author", author, "--yes", "--by", "keeper", "--quiet"]
        try FileManager.default.copyItem(atPath: folder.path("L"), toPath: folder.path("before"))
        let time = try ContinuousClock().measure { _ = try ToolRun.run(arguments, in: folder) }
        var random = SeededGenerator(seed: 42)
        for round in 0..<(ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 2 : 300) {
            try FileManager.default.removeItem(atPath: folder.path("L"))
            try FileManager.default.copyItem(atPath: folder.path("before"), toPath: folder.path("L"))
            try ToolRun.killed(arguments, in: folder, after: time, &random)
            #expect(try tool("verify", "L").exitCode == 0, "round \(round)")
            let export = try tool("export", "L").output
            let isOld = texts.allSatisfy { export.contains($0) }
            let isNew = texts.allSatisfy { !export.contains($0) }
            #expect(isOld != isNew && isNew == export.contains("logtool.redact/1"), "round \(round)")
            // Of a log that has forgotten, nobody is called so any more; what the killed one left goes all the same.
            let again = try ToolRun.run(arguments, in: folder)
            #expect(again.exitCode == (isOld ? 0 : 1), "\(again.errors)")
            let found = try ForgetFormTests.found(texts, in: folder.path("L"))
            #expect(found == [], "round \(round)")
        }
    }
}
