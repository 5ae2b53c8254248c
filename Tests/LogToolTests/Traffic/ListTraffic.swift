import EventLog
import TestSupport

/// Lists of tickets that a server sends whole after every change; streams break and begin with the whole list again.
struct PunchlistTraffic: AppTraffic {
    private struct Ticket {
        let id: String
        let text: String
        var isOpen = true
        var priority = 2
        var hours = 1
    }

    /// How the bug's list is sent.
    let kind: String
    private var lists: [String: [Ticket]] = [:]
    private var waiting: [TrafficEvent] = []

    init(kind: String) {
        self.kind = kind
    }

    /// The bug's own list changes until the bug; then it stays as the bug leaves it.
    mutating func next(
        _ number: Int,
        at time: Timestamp,
        isAfterBug: Bool,
        using random: inout SeededGenerator
    ) throws -> TrafficEvent {
        if !waiting.isEmpty { return waiting.removeFirst() }
        let source = isAfterBug || random.below(4) > 0 ? "list-\(random.below(4))" : "app"
        if source != "app", random.below(200) == 0 {
            waiting = [.link("open", source: source), list(number, source)]
            return .link("close", source: source)
        }
        change(source, number, using: &random)
        return list(number, source)
    }

    private mutating func change(_ source: String, _ number: Int, using random: inout SeededGenerator) {
        var list = lists[source] ?? []
        switch list.isEmpty ? 0 : random.draw([3, 3, 2, 2, 1]) {
        case 1: list[random.below(list.count)].isOpen.toggle()
        case 2: list[random.below(list.count)].priority = random.below(5)
        case 3 where list.count > 1: list.remove(at: random.below(list.count))
        case 4: list[random.below(list.count)].hours = 1 + random.below(8)
        default:
            if list.count > 11 { list.removeLast() }
            list.insert(Ticket(id: "wrk-n\(number)", text: random.sentence(4)), at: 0)
        }
        lists[source] = list
    }

    private func list(_ number: Int, _ source: String) -> TrafficEvent {
        let tickets = (lists[source] ?? []).map { ticket in
            #"{"id":"\#(ticket.id)","title":"\#(ticket.text)","status":"\#(ticket.isOpen ? "open" : "closed")","#
                + #""type":"task","priority":\#(ticket.priority),"deps":[],"created":"2026-01-18T09:00:00Z","#
                + #""estimate":{"hours":\#(ticket.hours)}}"#
        }
        guard source == "app", kind != "sse.event/1" else {
            let lines = ["id: \(number)"] + tickets.map { "data: " + $0 }
            return TrafficEvent(
                kind: "sse.event/1",
                payload: lines.joined(separator: "\n") + "\n\n",
                source: source
            )
        }
        let payload = "[" + tickets.joined(separator: ",") + "]"
        return TrafficEvent(kind: kind, payload: payload, attributes: ["dir": "in"], source: source)
    }
}

/// Status files of fifty terminals: sessions that work, wait, ask, end and begin again.
struct VibeStatusTraffic: AppTraffic {
    private var asking: Set<Int> = []

    mutating func next(
        _ number: Int,
        at time: Timestamp,
        isAfterBug: Bool,
        using random: inout SeededGenerator
    ) throws -> TrafficEvent {
        let session = random.below(50)
        switch random.draw([80, 5, 5]) {
        case 1: return file("n\(session)", nil)
        case 2: return asked(session, at: time, using: &random)
        default:
            let state = ["idle", "working", "needs_input"][random.below(3)]
            let more = random.below(10) == 0 ? #","model":{"name":"m\#(number % 3)"}"# : ""
            return file(
                "n\(session)",
                #"{"state":"\#(state)","project":"project-\#(random.below(8))","timestamp":"\#(time)","#
                    + #""pid":\#(4000 + session)\#(more)}"#
            )
        }
    }

    /// A prompt, or the answer to the one before.
    private mutating func asked(
        _ session: Int,
        at time: Timestamp,
        using random: inout SeededGenerator
    ) -> TrafficEvent {
        if asking.remove(session) != nil { return file("prompt-n\(session)", nil) }
        asking.insert(session)
        return file(
            "prompt-n\(session)",
            #"{"session_id":"n\#(session)","project":"project-1","prompt_message":"\#(random.text())?","#
                + #""notification_type":"idle_prompt","timestamp":"\#(time)","pid":\#(4000 + session)}"#
        )
    }

    private func file(_ name: String, _ content: String?) -> TrafficEvent {
        TrafficEvent(
            kind: "status.file/1",
            payload: content.map { $0 + "\n" } ?? "",
            attributes: ["path": "/tmp/vibestatus-\(name).json", "op": content == nil ? "remove" : "write"]
        )
    }
}
