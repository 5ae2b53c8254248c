import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

// docs/evolution.md: begin
/// Reads `todo.change/1`: one change of a to-do list, an object with `op`, `id`, `text` and, since May, `due`.
struct TodoDecoder: SourceDecoder {
    init() {}

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        guard let value = try? JSONValue.parse(payload), let id = value["id"]?.string else {
            return context.issue("todo change: not one JSON object with an id")
        }
        let list = context.names.id(envelope.source.rawValue)
        let item = context.names.id(id)
        switch value["op"]?.string {
        case "put":
            var fields = ItemFields(id: item, text: value["text"]?.string, done: value["done"]?.bool ?? false)
            // Payloads from before May have no due, so it must never be required.
            if let due = value["due"] { fields.extra["due"] = due }
            changes.append(.item(.stated(list: list, item: fields)))
        case "remove": changes.append(.item(.removed(list: list, id: item)))
        default: context.issue("todo change: op is neither put nor remove")
        }
    }

    // It remembers nothing between two events, so a compaction has nothing to keep for it.
    func collectNeeded(into sequences: inout SequenceSet) {}
    func normalForm(names: Names, into take: (JSONValue) -> Void) {}
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }
    mutating func load(facts: JSONValue, names: inout Names) throws {}
}
// docs/evolution.md: end

/// The template for a new app compiles and decodes.
@Suite struct EvolutionTemplateTests {
    @Test func theTemplateReadsOldAndNewPayloads() throws {
        var items = Items()
        var names = Names()
        var issues: [String] = []
        for (number, payload) in [
            #"{"op":"put","id":"a","text":"Milk"}"#,
            #"{"op":"put","id":"b","text":"Bread","done":true,"due":"2026-05-02"}"#,
            #"{"op":"put","id":"c","text":"Tea"}"#, #"{"op":"remove","id":"c"}"#, #"{"op":"swap","id":"a"}"#, "{",
        ].enumerated() {
            let event = EventReference(
                sequence: SequenceNumber(UInt64(number) + 1),
                recordedAt: Timestamp(seconds: Int64(number))
            )
            var context = FoldContext(names: names, event: event)
            var changes: [Change] = []
            var decoder = TodoDecoder()
            let envelope = try TestEvent.message(UInt64(number) + 1, payload).envelope
            Array(payload.utf8).withUnsafeBytes {
                decoder.decode(envelope, payload: $0, into: &changes, context: &context)
            }
            for change in changes { items.apply(change, in: &context) }
            names = context.names
            issues += context.reasons
        }
        let context = RowContext(names: names, asOf: Timestamp(seconds: 9))
        let rows = items.keys(in: .items, names: names).compactMap {
            items.row(for: $0, context: context)?.canonicalText
        }
        #expect(
            rows.sorted() == [
                #"{"done":false,"id":"a","list":"app","position":0,"text":"Milk"}"#,
                #"{"done":true,"extra":{"due":"2026-05-02"},"id":"b","list":"app","position":1,"text":"Bread"}"#,
            ]
        )
        #expect(issues == ["todo change: op is neither put nor remove", "todo change: not one JSON object with an id"])
    }

    @Test func thePageShowsTheSameLines() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/evolution.md"), encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let start = try #require(source.components(separatedBy: "// docs/evolution.md: begin\n").dropFirst().first)
        let template = try #require(start.components(separatedBy: "// docs/evolution.md: end").first)
        #expect(page.contains(template))
    }
}
