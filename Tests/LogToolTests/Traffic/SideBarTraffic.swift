import EventLog
import TestSupport

/// Notes and websites as rows of a database, told over a socket that is joined again now and then.
struct SideBarTraffic: AppTraffic {
    private var waiting: [TrafficEvent] = []
    private var notes: [Int] = []
    private var hasBegun = false
    private var reference = 0

    mutating func next(
        _ number: Int,
        at time: Timestamp,
        isAfterBug: Bool,
        using random: inout SeededGenerator
    ) throws -> TrafficEvent {
        if !hasBegun || random.below(1000) == 0 { join() }
        if !waiting.isEmpty { return waiting.removeFirst() }
        switch notes.isEmpty ? 0 : random.draw([40, 35, 5, 4, 12, 4]) {
        case 1: return update(at: time, isDeleted: false, using: &random)
        case 2: return update(at: time, isDeleted: true, using: &random)
        case 3: return delete(at: time, using: &random)
        case 4: return website(number, at: time, using: &random)
        case 5:
            reference += 1
            return out(#"{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"h\#(reference)","join_ref":null}"#)
        default:
            notes.append(number)
            if notes.count > 500 { notes.removeFirst(100) }
            return row("notes", "INSERT", note(number, at: time, isDeleted: false, using: &random), at: time)
        }
    }

    private mutating func join() {
        if hasBegun { waiting = [.link("close")] }
        hasBegun = true
        reference += 1
        waiting.append(.link("open"))
        for table in ["notes", "websites"] {
            let topic = #""topic":"realtime:public:\#(table)""#
            waiting.append(
                out(
                    #"{\#(topic),"event":"phx_join","payload":{"access_token":"[redacted]"},"ref":"j\#(reference)","#
                        + #""join_ref":"j\#(reference)"}"#
                )
            )
            waiting.append(
                incoming(
                    #"{\#(topic),"event":"system","payload":{"extension":"postgres_changes","status":"ok","#
                        + #""message":"Subscribed to PostgreSQL","channel":"public:\#(table)"},"ref":null}"#
                )
            )
        }
    }

    private func incoming(_ payload: String) -> TrafficEvent {
        TrafficEvent(kind: "realtime.frame/1", payload: payload, attributes: ["dir": "in"])
    }

    private func out(_ payload: String) -> TrafficEvent {
        TrafficEvent(kind: "realtime.frame/1", payload: payload, attributes: ["dir": "out"])
    }

    // MARK: - Rows

    private mutating func update(
        at time: Timestamp,
        isDeleted: Bool,
        using random: inout SeededGenerator
    ) -> TrafficEvent {
        let number = isDeleted ? notes.remove(at: random.below(notes.count)) : notes[random.below(notes.count)]
        return row(
            "notes",
            "UPDATE",
            note(number, at: time, isDeleted: isDeleted, using: &random),
            old: #"{"id":"note-\#(number)"}"#,
            at: time
        )
    }

    private mutating func delete(at time: Timestamp, using random: inout SeededGenerator) -> TrafficEvent {
        let number = notes.remove(at: random.below(notes.count))
        return row("notes", "DELETE", nil, old: #"{"id":"note-\#(number)"}"#, at: time)
    }

    private func note(
        _ number: Int,
        at time: Timestamp,
        isDeleted: Bool,
        using random: inout SeededGenerator
    ) -> String {
        let text = random.sentence(5 + random.below(120))
        return #"{"id":"note-\#(number)","title":"\#(random.sentence(3))","content":"\#(text)","#
            + #""metadata":{"folder":"f\#(number % 9)","views":\#(random.below(90))},"#
            + #""created_at":"2026-01-01T09:00:00+00:00","updated_at":"\#(time)","user_id":"u-1","#
            + #""deleted_at":\#(isDeleted ? "\"\(time)\"" : "null")}"#
    }

    private func website(_ number: Int, at time: Timestamp, using random: inout SeededGenerator) -> TrafficEvent {
        let id = "site-\(number)"
        return row(
            "websites",
            "INSERT",
            #"{"id":"\#(id)","url":"https://soup.example/\#(id)","title":"\#(random.sentence(4))","#
                + #""metadata":{"pinned":false},"created_at":"\#(time)","updated_at":"\#(time)","deleted_at":null}"#,
            at: time
        )
    }

    private func row(
        _ table: String,
        _ type: String,
        _ record: String?,
        old: String? = nil,
        at time: Timestamp
    ) -> TrafficEvent {
        let names =
            table == "notes"
            ? ["id", "title", "content", "metadata", "created_at", "updated_at", "user_id", "deleted_at"]
            : ["id", "url", "title", "metadata", "created_at", "updated_at", "deleted_at"]
        let columns = names.map { #"{"name":"\#($0)","type":"text"}"# }.joined(separator: ",")
        let parts = [record.map { #","record":\#($0)"# }, old.map { #","old_record":\#($0)"# }].compactMap { $0 }
        return incoming(
            #"{"topic":"realtime:public:\#(table)","event":"postgres_changes","ref":null,"payload":{"ids":[51220011],"data":{"#
                + #""schema":"public","table":"\#(table)","type":"\#(type)","commit_timestamp":"\#(time)","errors":null,"#
                + #""columns":[\#(columns)]\#(parts.joined())}}}"#
        )
    }
}
