import EventLog
import JSON
import Projections

/// The log that tables of events are filled from, in one generation.
struct EventSource {
    let store: EventStore
    let generation: UInt32

    /// Inserts all events up to one into the tables that are filled from events.
    ///
    /// - Throws: `EngineError` if the log was rewritten since.
    func insert(
        through last: SequenceNumber,
        into tables: MappedTables,
        progress: (_ rows: Int) -> Void = { _ in }
    ) throws {
        guard tables.map.hasEvents, last > .zero else { return }
        try store.read { session in
            guard session.generationNumber == generation else {
                throw EngineError("read the events of \"\(store.path)\": the log was rewritten meanwhile; try again")
            }
            try tables.insertEvents(of: session, in: SequenceNumber(1)...last, progress: progress)
        }
    }
}

extension ReadSession {
    /// Calls `body` with the rows of the list `events`, by sequence, and the bytes of their payloads. Dropped events have none.
    ///
    /// - Throws: `EventLogError` with code `damaged` if the bytes of an event are not those of its leaf hash (I7).
    func forEachEventRow(in range: ClosedRange<SequenceNumber>, _ body: (ListedRow, Int) throws -> Void) throws {
        try forEachEvent(in: range) { event in
            try check(event)
            try body(.value(Self.row(of: event)), event.payloadCount)
            return true
        }
    }

    private static func row(of event: borrowing EventView) -> JSONValue {
        let envelope = event.envelope
        var attributes = JSONObject()
        for pair in envelope.attributes.pairs { attributes[pair.name] = .string(pair.value) }
        var row: JSONObject = [
            "sequence": .string(envelope.sequence.description),
            "recordedAt": .string(envelope.recordedAt.description),
            "source": .string(envelope.source.rawValue),
            "kind": .string(envelope.kind.rawValue),
        ]
        if let key = envelope.key?.rawValue { row["key"] = .string(key) }
        row["attributes"] = .object(attributes)
        if envelope.holding == .redacted { row["redacted"] = .bool(true) }
        row["bytes"] = .int(event.payloadCount)
        row["payload"] = .string(event.withPayload { jsonText(of: $0) })
        return .object(row)
    }

    /// A payload as the text of a JSON value, so that functions of JSON never fail on one: as it is if it is JSON, else as a
    /// JSON text; bytes that are not UTF-8 as an object with `base64`.
    private static func jsonText(of payload: UnsafeRawBufferPointer) -> String {
        guard let text = String(validating: payload, as: UTF8.self) else {
            return JSONValue.object(["base64": .string(Base64.encode(payload))]).text
        }
        var scanner = JSONScanner(payload)
        scanner.skipSpace()
        let isValue = scanner.passValue(within: 0)
        scanner.skipSpace()
        return isValue && scanner.isAtEnd ? text : JSONValue.string(text).text
    }
}
