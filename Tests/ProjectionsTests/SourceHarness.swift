import EventLog
import Foundation

@testable import Projections

/// One source as a state runs it, cut down to what the tests of items, sessions, prompts and rows need.
struct SourceHarness {
    var items = Items()
    var sessions = Sessions()
    var prompts = Prompts()
    var rows = Rows()
    var channels = Channels()
    var messages = Messages()
    var itemsDecoder = ItemsDecoder()
    var statusDecoder = StatusFileDecoder()
    var realtimeDecoder = RealtimeDecoder()
    var names = Names()
    var issues: [Issue] = []
    var touched: Set<EntityKey> = []
    var changes: [Change] = []
    var clock = Timestamp(seconds: 0)
    /// The last event.
    private(set) var last = SequenceNumber.zero

    init() {}

    /// The state that follows from facts, before any event.
    init(facts: [JSONValue]) throws {
        for (index, fact) in facts.enumerated() {
            try withPart(index) { part, names in try part.load(facts: fact, names: &names) }
        }
    }

    var parts: [any StatePart] {
        [items, sessions, prompts, rows, channels, messages, itemsDecoder, statusDecoder, realtimeDecoder]
    }

    private mutating func withPart(_ index: Int, _ body: (inout any StatePart, inout Names) throws -> Void) rethrows {
        var part = parts[index]
        try body(&part, &names)
        switch part {
        case let part as Items: items = part
        case let part as Sessions: sessions = part
        case let part as Prompts: prompts = part
        case let part as Rows: rows = part
        case let part as Channels: channels = part
        case let part as Messages: messages = part
        case let part as ItemsDecoder: itemsDecoder = part
        case let part as StatusFileDecoder: statusDecoder = part
        case let part as RealtimeDecoder: realtimeDecoder = part
        default: break
        }
    }

    mutating func apply(_ event: TestEvent) {
        last = event.envelope.sequence
        clock = max(clock, event.envelope.recordedAt)
        var context = FoldContext(
            names: names,
            event: EventReference(sequence: event.envelope.sequence, recordedAt: event.envelope.recordedAt)
        )
        var changes: [Change] = []
        event.payload.withUnsafeBytes { bytes in
            switch event.envelope.kind.rawValue {
            case "status.file/1":
                statusDecoder.decode(event.envelope, payload: bytes, into: &changes, context: &context)
            case "realtime.frame/1", "recorder.link/1":
                realtimeDecoder.decode(event.envelope, payload: bytes, into: &changes, context: &context)
            default:
                itemsDecoder.decode(event.envelope, payload: bytes, into: &changes, context: &context)
            }
        }
        for change in changes {
            items.apply(change, in: &context)
            sessions.apply(change, in: &context)
            prompts.apply(change, in: &context)
            rows.apply(change, in: &context)
            channels.apply(change, in: &context)
            messages.apply(change, in: &context)
        }
        names = context.names
        touched.formUnion(context.touched)
        self.changes += changes
        issues += context.reasons.map { Issue(sequence: event.envelope.sequence, reason: $0) }
    }

    mutating func apply(_ events: [TestEvent]) {
        for event in events { apply(event) }
    }

    func rows(in section: Section, asOf: Timestamp? = nil) -> [String] {
        let context = RowContext(names: names, asOf: asOf ?? clock)
        return folds.flatMap { fold in
            fold.keys(in: section, names: names).map { fold.row(for: $0, context: context)?.canonicalText ?? "none" }
        }
    }

    /// All rows of all sections by key, as text.
    func allRows() -> [EntityKey: String] {
        let context = RowContext(names: names, asOf: clock)
        var all: [EntityKey: String] = [:]
        for fold in folds {
            for section in Section.allCases {
                for key in fold.keys(in: section, names: names) {
                    all[key] = fold.row(for: key, context: context)?.canonicalText ?? "none"
                }
            }
        }
        return all
    }

    /// The history of an entity, an entry as `sequence change kinds`.
    func history(_ section: Section, _ first: String, _ second: String? = nil) -> [String]? {
        guard let first = names.find(first) else { return nil }
        let key = EntityKey(section, first, second.flatMap { names.find($0) } ?? .none)
        let context = RowContext(names: names, asOf: clock)
        return folds.compactMap { $0.history(of: key, context: context) }.first?.map { entry in
            ([entry.sequence.description, entry.change] + entry.kinds).joined(separator: " ")
        }
    }

    /// The fields of an entity's history entries at some places.
    func historyFields(
        _ section: Section,
        _ first: String,
        _ second: String,
        in places: Range<Int> = 0..<Int.max
    ) -> [JSONObject] {
        guard let first = names.find(first), let second = names.find(second) else { return [] }
        let (key, context) = (EntityKey(section, first, second), RowContext(names: names, asOf: clock))
        return folds.flatMap { $0.history(of: key, in: places, context: context) }.map(\.fields)
    }

    var channelRows: [String] { rows(in: .channels) }

    var messageRows: [String] { rows(in: .messages) }

    /// The whole state of every part as text.
    func normalForm() -> [String] {
        parts.flatMap { $0.normalFormLines(names) }
    }

    /// What the digest covers: all rows as text, without what only sequences make of them.
    func substance() -> [String] {
        allRows().values.map { text in
            var text = text
            if let start = text.range(of: ",\"sequence\":\""), let end = text[start.upperBound...].firstIndex(of: "\"")
            {
                text.removeSubrange(start.lowerBound...end)
            }
            return text
        }.sorted()
    }

    private var folds: [any Fold] { [items, sessions, prompts, rows, channels, messages] }

    /// The state that a policy retains.
    func retained(_ policy: RetentionPolicy) -> SourceHarness {
        var source = self
        source.items.retain(policy, names: names)
        source.sessions.retain(policy, names: names)
        source.prompts.retain(policy, names: names)
        source.rows.retain(policy, names: names)
        source.channels.retain(policy, names: names)
        source.messages.retain(policy, names: names, CompactionDecision(head: last, clock: nil))
        return source
    }

    /// What a compaction would leave, folded anew.
    func compacted(_ events: [TestEvent]) throws -> SourceHarness {
        var kept: SequenceSet = []
        for part in parts { part.collectNeeded(into: &kept) }
        var again = try SourceHarness(facts: parts.map { $0.facts(keeping: kept, names: names) })
        (again.clock, again.last) = (clock, last)
        again.apply(events.filter { kept.contains($0.envelope.sequence.rawValue) })
        return again
    }
}

/// An event of a test.
struct TestEvent {
    var envelope: Envelope
    var payload: [UInt8]

    init(
        _ sequence: UInt64,
        kind: EventKind,
        seconds: Int64? = nil,
        attributes: Attributes = .none,
        payload: [UInt8]
    ) throws {
        envelope = Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(seconds: seconds ?? Int64(sequence)),
            source: try SourceName("app"),
            kind: kind,
            attributes: attributes
        )
        self.payload = payload
    }

    static func message(_ sequence: UInt64, _ text: String, dir: String = "in") throws -> TestEvent {
        try TestEvent(
            sequence,
            kind: EventKind("items.message/1"),
            attributes: ["dir": dir],
            payload: Array(text.utf8)
        )
    }

    static func sse(_ sequence: UInt64, _ text: String) throws -> TestEvent {
        try TestEvent(sequence, kind: EventKind("sse.event/1"), payload: Array(text.utf8))
    }

    static func status(
        _ sequence: UInt64,
        _ path: String,
        _ text: String?,
        seconds: Int64? = nil
    ) throws -> TestEvent {
        try TestEvent(
            sequence,
            kind: EventKind("status.file/1"),
            seconds: seconds,
            attributes: ["path": path, "op": text == nil ? "remove" : "write"],
            payload: Array((text ?? "").utf8)
        )
    }

    static func frame(
        _ sequence: UInt64,
        _ text: String,
        dir: String = "in",
        seconds: Int64? = nil
    ) throws -> TestEvent {
        try TestEvent(
            sequence,
            kind: EventKind("realtime.frame/1"),
            seconds: seconds,
            attributes: ["dir": dir],
            payload: Array(text.utf8)
        )
    }
}
