package import EventLog
import Kinds

extension BuiltInApp {
    /// How many events of a source are looked at, and how many bytes of payloads.
    private static let (eventsMax, bytesMax) = (2_000, 32 << 20)

    /// What shows that rows or streams of a source are not of the app that their kind is read for; `nil` if nothing does.
    ///
    /// Looks at 2,000 events of the source behind `head`, and 32 MiB of payloads, at most. Rows are told by the columns that their
    /// frames list; streams by names of events, and by objects none of which is a ticket.
    ///
    /// - Throws: `EventLogError` if the log cannot be read.
    package static func doubt(of source: SourceName, behind head: SequenceNumber, in session: borrowing ReadSession)
        throws -> String?
    {
        guard session.head > head else { return nil }
        var (doubt, stream, count, byteCount): (String?, StreamLook, Int, Int) = (nil, StreamLook(), 0, 0)
        try session.forEachEvent(in: SequenceNumber(head.rawValue + 1)...session.head) { event in
            guard event.source == source else { return true }
            count += 1
            let (isStream, isRow) = (event.kind.is(.serverSentEvent), EventFamily(kind: event.kind) == .realtime)
            if isStream || isRow {
                event.withPayload { payload in
                    byteCount += payload.count
                    doubt = isStream ? stream.look(at: payload) : rowDoubt(of: payload)
                }
            }
            return doubt == nil && count < eventsMax && byteCount < bytesMax
        }
        return doubt ?? stream.doubt
    }

    /// The columns without which a table is not the app's.
    private static let columns: [(table: String, needed: [String])] = [
        ("conversations", ["title", "messages"]), ("tasks", ["title", "status", "project_id", "group_id"]),
    ]

    private static func rowDoubt(of payload: UnsafeRawBufferPointer) -> String? {
        guard let frame = try? JSONValue.parse(payload) else { return nil }
        let said = frame.array?.last ?? frame["payload"]
        guard let data = said?["data"], data["schema"]?.string == "public", let table = data["table"]?.string,
            let needed = columns.first(where: { $0.table == table })?.needed,
            let listed = data["columns"]?.array?.compactMap({ $0["name"]?.string }), !listed.isEmpty,
            let lacking = needed.first(where: { !listed.contains($0) })
        else { return nil }
        return "its table \(table) has no column \(lacking)"
    }

    /// What was seen of a stream.
    private struct StreamLook {
        private var (objects, tickets) = (0, 0)

        var doubt: String? { objects > 0 && tickets == 0 ? "none of its events is a ticket" : nil }

        mutating func look(at payload: UnsafeRawBufferPointer) -> String? {
            let event = ServerSentEvent(payload)
            if event.name != nil { return "its events have names" }
            for line in event.data {
                guard let value = line.withUnsafeBytes({ try? JSONValue.parse($0) }) else { continue }
                for object in value["items"]?.array ?? value.array ?? [value] where object.object != nil {
                    let ticket = object["ticket"] ?? object
                    objects += 1
                    let isTicket = ticket["id"] != nil && (ticket["status"] != nil || ticket["done"] != nil)
                    if isTicket || object["type"]?.string == "agent" { tickets += 1 }
                }
            }
            return nil
        }
    }
}
