import EventLog
import EventLogTesting
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

@Suite struct CheckCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 5)
    }

    private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder, environment: environment)
    }

    /// Replaces a text in a file of the fixture.
    private func alter(_ file: String, _ text: String, to other: String) throws {
        let url = URL(filePath: folder.path(file))
        let content = try String(contentsOf: url, encoding: .utf8)
        #expect(content.contains(text))
        try Data(content.replacingOccurrences(of: text, with: other).utf8).write(to: url)
    }

    @Test func whatIsFrozenPasses() throws {
        let frozen = try run("freeze", "L", "-o", "F/late-edit", "--at", "5", "--profile", "retrocast-web")
        #expect(frozen.exitCode == 0, "\(frozen.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("F/late-edit")).sorted()
        #expect(names == ["about.md", "events.ndjson", "expected.json", "expected.retrocast-web.json"])
        let checked = try run("check", "F/late-edit")
        #expect(checked.exitCode == 0)
        #expect(checked.output.hasPrefix("1 fixture: 1 passed, 0 failed"))
        let state = try run("replay", "L", "--at", "5", "--json").output
        #expect(
            try String(contentsOf: URL(filePath: folder.path("F/late-edit/expected.json")), encoding: .utf8) == state
        )
    }

    @Test func theTestInSwiftIsAMemberOfTheDocument() throws {
        let frozen = try run("freeze", "L", "-o", "F/late-edit", "--swift", "--json")
        #expect(frozen.exitCode == 0, "\(frozen.errors)")
        let document = try JSONSerialization.jsonObject(with: Data(frozen.output.utf8)) as? [String: Any]
        #expect((document?["test"] as? String)?.contains("@Test func lateEdit() async throws {") == true)
        let text = try run("freeze", "L", "-o", "F/other", "--swift").output
        #expect(text.contains("next: logtool check F/other\n\nimport EventLogTesting\n"))
    }

    @Test func aDifferenceNamesTheMemberAndTheEvent() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        try alter("F/a/expected.json", "message 3", to: "message three")
        let checked = try run("check", "F")
        #expect(checked.exitCode == 1)
        #expect(checked.output.contains("changed message:guild/10/1003"))
        #expect(checked.output.contains("content: expected \"message three\", found \"message 3\""))
        #expect(checked.output.contains("event 5 (gateway.frame/1 from \"guild\")"))
        let document = try JSONValue.parse(try run("check", "F", "--json").output)
        #expect(document["failed"]?.number?.uint64 == 1)
        #expect(document["fixtures"]?.array?.first?["differences"]?.array?.first?["event"]?["sequence"]?.string == "5")
    }

    /// A client's state alone says nothing of what the remote meant.
    @Test func aFixtureWithoutItsExpectedStateFails() throws {
        _ = try run("freeze", "L", "-o", "F/a", "--profile", "retrocast-web")
        try #require(try run("check", "F").exitCode == 0)
        try FileManager.default.removeItem(atPath: folder.path("F/a/expected.json"))
        try #require(FileManager.default.fileExists(atPath: folder.path("F/a/expected.retrocast-web.json")))
        let checked = try run("check", "F")
        #expect(checked.exitCode == 2 && checked.output.contains("it has no expected.json"), "\(checked.output)")
    }

    @Test func reportsAreOfTheFormsThatServersRead() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        _ = try run("freeze", "L", "-o", "F/b<&\"")
        try alter("F/a/expected.json", "message 3", to: "message three")
        let tap = try run("check", "F", "--tap", "--junit", "r.xml")
        #expect(tap.exitCode == 1)
        #expect(tap.output.hasPrefix("TAP version 13\n1..2\nnot ok 1 - a\n# a (canonical): 1 thing differs\n"))
        #expect(tap.output.contains("\nok 2 - b<&\"\n"))
        let report = try XMLCheck.elements(in: Data(contentsOf: URL(filePath: folder.path("r.xml"))))
        #expect(report == ["testsuite", "testcase", "failure", "testcase"])
    }

    /// Who made the fixtures could have planted it.
    @Test func aReportAndAStateAreNotWrittenThroughALink() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        try folder.write("precious\n", to: "precious")
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path("r.xml"), withDestinationPath: "precious")
        let report = try run("check", "F", "--junit", "r.xml")
        #expect(report.exitCode == 2 && report.errors.contains("r.xml"))
        try manager.removeItem(atPath: folder.path("F/a/expected.json"))
        try manager.createSymbolicLink(atPath: folder.path("F/a/expected.json"), withDestinationPath: "../../precious")
        #expect(try run("check", "F").exitCode == 2)
        #expect(try run("check", "F", "--update").exitCode == 2)
        #expect(manager.contents(atPath: folder.path("precious")) == Data("precious\n".utf8))
    }

    @Test(arguments: ["events.ndjson", "expected.json"])
    func aFixtureIsReadToABoundAndWithoutWaiting(name: String) throws {
        _ = try run("freeze", "L", "-o", "F/a")
        let path = folder.path("F/a/\(name)")
        // Sparse: more than the limit without taking room.
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 300 << 20)
        try file.close()
        let large = try run("check", "F")
        #expect(large.exitCode == 2 && large.output.contains("more than 256 MiB"), "\(large.output)")
        try FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        #expect(try run("check", "F").exitCode == 2)
    }

    @Test func whatIsFrozenIsClosedToOthers() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        _ = try run("check", "F", "--junit", "r.xml")
        let mode = { (path: String) throws -> Int? in
            try FileManager.default.attributesOfItem(atPath: folder.path(path))[.posixPermissions] as? Int
        }
        #expect(try mode("F/a") == 0o700)
        for name in ["F/a/events.ndjson", "F/a/expected.json", "F/a/about.md", "r.xml"] {
            #expect(try mode(name) == 0o600)
        }
    }

    @Test func anUpdateTakesTodaysStateAndIsRefusedOnAServer() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        try alter("F/a/expected.json", "message 3", to: "message three")
        #expect(try run("check", "F", "--update", environment: ["CI": "true"]).exitCode == 2)
        #expect(try run("check", "F").exitCode == 1)
        let updated = try run("check", "F", "--update")
        #expect(updated.exitCode == 0)
        #expect(updated.output.contains("message three") && updated.output.contains("1 updated"))
        #expect(try run("check", "F").exitCode == 0)
    }

    @Test func anUpdateCountsAFixtureThatCannotBeUsedAsFailed() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        try FileManager.default.removeItem(atPath: folder.path("F/a/expected.json"))
        let alone = try run("check", "F", "--update")
        #expect(alone.exitCode == 2)
        #expect(alone.output.contains("\n1 fixture: 0 passed, 0 updated, 1 failed ("), "\(alone.output)")
        _ = try run("freeze", "L", "-o", "F/b")
        try alter("F/b/expected.json", "message 3", to: "message three")
        let both = try run("check", "F", "--update")
        #expect(both.exitCode == 2)
        #expect(both.output.contains("\n2 fixtures: 0 passed, 1 updated, 1 failed ("), "\(both.output)")
        #expect(try run("check", "F").output.contains("\n2 fixtures: 1 passed, 1 failed ("))
    }

    @Test func aStateAtAPointIsCheckedToo() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        for name in ["expected@4.json", "expected@4.retrocast-web.json"] {
            try Data("{}".utf8).write(to: URL(filePath: folder.path("F/a/\(name)")))
        }
        let checked = try run("check", "F", "--json")
        #expect(checked.exitCode == 1)
        let results = try JSONValue.parse(checked.output)["fixtures"]?.array?.first?["differences"]?.array ?? []
        #expect(results.map { $0["profile"]?.string } == ["canonical", "retrocast-web"])
        #expect(results.allSatisfy { $0["at"]?.string == "4" })
        #expect(try run("check", "F/a").output.contains("\na (retrocast-web at 4): "))
        #expect(try run("check", "F/a", "--update").output.contains("1 updated"))
        #expect(try run("check", "F").exitCode == 0)
        let state = try run("replay", "L", "--at", "4", "--json").output
        #expect(
            try String(contentsOf: URL(filePath: folder.path("F/a/expected@4.json")), encoding: .utf8) == state
        )
    }

    @Test(arguments: [
        ("expected@.json", "its name is no state's"), ("expected@04.json", "its name is no state's"),
        ("expected@4.nobody.json", "its name is no state's"), ("expected@99.json", "the fixture has no event 99"),
    ])
    func aStateAtNoPointIsRefused(name: String, reason: String) throws {
        _ = try run("freeze", "L", "-o", "F/a")
        try Data("{}".utf8).write(to: URL(filePath: folder.path("F/a/\(name)")))
        let checked = try run("check", "F/a")
        #expect(checked.exitCode == 2)
        #expect(checked.output.contains("\(name)\": \(reason)"))
        #expect(try run("check", "F/a", "--update").output.contains(reason))
    }

    @Test func aCompactedLogCanBeFrozen() throws {
        try folder.makeLog(messages: 40)
        let compaction = try run("compact", "L", "--keep", "3")
        #expect(compaction.exitCode == 0, "\(compaction.errors)")
        let frozen = try run("freeze", "L", "-o", "F/a")
        #expect(frozen.exitCode == 0, "\(frozen.errors)")
        #expect(try run("check", "F").exitCode == 0)
    }

    @Test func whatIsThereIsNotOverwritten() throws {
        _ = try run("freeze", "L", "-o", "F/a")
        let again = try run("freeze", "L", "-o", "F/a")
        #expect(again.exitCode == 4)
        #expect(try run("check", "F").exitCode == 0)
    }

    @Test func whatIsNoFixtureIsSaid() throws {
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: true)
        #expect(try run("check", "empty").exitCode == 2)
        #expect(try run("check", "missing").exitCode == 2)
        _ = try run("freeze", "L", "-o", "F/a")
        try alter("F/a/events.ndjson", "\"recordedAt\":\"2026", to: "\"recordedAt\":\"x026")
        let broken = try run("check", "F")
        #expect(broken.exitCode == 2)
        #expect(broken.output.contains("events.ndjson") && broken.output.contains("line 1"))
    }

    /// The project's own scenarios are fixtures too.
    @Test func everyScenarioPasses() throws {
        let checked = try run("check", PackageRoot.scenarios.path)
        #expect(checked.exitCode == 0, "\(checked.output)")
        #expect(checked.output.contains("\(Scenario.all.count) passed"))
    }

    @Test func anAppsTestChecksAFixtureInOneLine() async throws {
        _ = try run("freeze", "L", "-o", "F/a")
        let url = URL(filePath: folder.path("F/a"))
        try await Fixture(at: url).check()
        try alter("F/a/expected.json", "message 3", to: "message three")
        let error = await #expect(throws: FixtureMismatch.self) { try await Fixture(at: url).check() }
        #expect(error?.responsible?.sequence == SequenceNumber(5))
    }
}

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The elements of an XML document, in order, by Foundation's own parser.
private final class XMLCheck: NSObject, XMLParserDelegate {
    private var names: [String] = []

    static func elements(in data: Data) throws -> [String] {
        let (parser, check) = (XMLParser(data: data), XMLCheck())
        parser.delegate = check
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        return check.names
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        names.append(name)
    }
}
