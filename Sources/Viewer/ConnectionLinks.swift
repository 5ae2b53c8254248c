package import EventLog
package import JSON
import Projections

/// The events at which connections began and ended: where a recorder opened and closed them, else their first event, and the
/// frames by which a gateway's client named itself and took a session up again. An event belongs to the connection that its
/// attribute `connection` names.
package struct ConnectionLinks: Sendable {
    private struct Name: Hashable {
        let source: SourceName
        let connection: String
    }

    private struct Row {
        var events: [(sequence: SequenceNumber, title: String)]
        /// How many events of the connection were looked at for a title.
        var count = 0
    }

    /// The first events of a connection, among which its frames of greeting are.
    private static let greetingMax = 16
    private static let greetings: Set<String> = ["IDENTIFY", "RESUME", "READY", "RESUMED", "INVALID_SESSION"]

    private var rows: [Name: Row] = [:]
    /// In the order of their first events.
    private var names: [Name] = []

    /// Makes one without connections.
    package init() {}

    /// Takes the next event of the log.
    package mutating func take(_ event: borrowing EventView) {
        guard let connection = event.attributes["connection"] else { return }
        let name = Name(source: event.source, connection: connection)
        let link = event.attributes["link"]
        if rows[name] == nil {
            names.append(name)
            rows[name] = Row(events: link == nil ? [(event.sequence, "first")] : [])
        }
        rows[name]?.count += 1
        if let link {
            rows[name]?.events.append((event.sequence, link))
        } else if let count = rows[name]?.count, count <= Self.greetingMax,
            let title = event.withPayload({ FrameTitle.title(of: event.kind, payload: $0) }),
            Self.greetings.contains(title)
        {
            rows[name]?.events.append((event.sequence, title))
        }
    }

    /// A connection: `{"source","connection","events":[{"sequence","title"}]}`; `nil` if no event names it.
    package func json(of connection: String, in source: SourceName) -> JSONObject? {
        json(of: Name(source: source, connection: connection))
    }

    /// All connections, in the order of their first events.
    package var json: JSONValue { .array(names.compactMap { json(of: $0) }.map { .object($0) }) }

    private func json(of name: Name) -> JSONObject? {
        guard let row = rows[name] else { return nil }
        let events = row.events.map { event in
            JSONValue.object(["sequence": .string(event.sequence.description), "title": .string(event.title)])
        }
        return [
            "source": .string(name.source.rawValue), "connection": .string(name.connection),
            "events": .array(events),
        ]
    }
}
