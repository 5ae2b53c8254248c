import TestSupport
import Testing

@testable import logtool

/// `shrink --observed --anonymize`.
@Suite struct ObservedAnonymityTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// What the screen showed gets the same substitutes as what it shows.
    @Test(arguments: [
        (#"{"id":"71990000002","content":"plumbing tuesday"},{"id":"71990000002"},{"id":"71990000001"}"#, "repeated"),
        (#"{"id":"71990000002","content":"gazebo wednesday"},{"id":"71990000001"}"#, "member"),
        (#"{"id":"71990000003"},{"id":"71990000002"},{"id":"71990000001"}"#, "extra"),
    ])
    func aShrunkLogCanBeAnonymized(rows: String, difference: String) throws {
        var lines = [
            ObservedChat.create(71_990_000_001, "gazebo monday", at: 0),
            ObservedChat.create(71_990_000_002, "plumbing tuesday", at: 10),
        ]
        if difference == "repeated" { lines.append(ObservedChat.create(71_990_000_002, "plumbing tuesday", at: 15)) }
        lines.append(
            ObservedChat.screen(
                #"{"client":"marquee","received":\#(lines.count),"order":"descending","channel":"10","messages":[\#(rows)]}"#,
                at: 20
            )
        )
        try folder.write(lines.joined(separator: "\n") + "\n", to: "L.ndjson")
        let arguments = ["ingest", "L", "capture", "L.ndjson", "--kind", "gateway", "--as", "chat"]
        #expect(try ToolRun.run(arguments, in: folder).exitCode == 0)
        let run = try ToolRun.run(["shrink", "L", "--observed", "--anonymize", "-o", "S"], in: folder)
        #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
        let found = try ToolRun.run(["bisect", "S", "--observed", "--json"], in: folder).output
        #expect(found.contains("\"\(difference)\""), "\(found)")
        let events = try ToolRun.run(["events", "S", "--jsonl", "--payload"], in: folder).output
        for word in ["gazebo", "plumbing", "marquee", "7199", "monday"] { #expect(!events.contains(word), "\(word)") }
    }
}
