import EventLog
import Kinds

/// Reads item lists: `items.message/1` (a WebSocket message) and `sse.event/1` (one Server-Sent Event).
///
/// A snapshot is a JSON array, an object with `project` and `items`, or an event with one ticket in each `data` line.
/// The list is the project that the payload names, else the source. The event's name (`event:`) is ignored: the remote
/// sends none. Outbound messages are no snapshots.
///
/// Every snapshot replaces a whole list, so canonically the decoder needs no memory but that of its connections: the
/// snapshots of a time without one are missing.
struct ItemsDecoder: SourceDecoder {
    /// The project that the client requested last; `nil` canonically and until a request. Only profiles use it.
    private var viewed: EntityID?
    /// Whether a connection opened before. Only profiles use it.
    private var hasConnected = false
    private(set) var links = ItemLinks()
    /// Whether Server-Sent Events that no file reads are the app's. Not saved: set again after a load.
    var readsStreams = true
    /// Saves parsing only: it changes no result and is not saved, so a loaded state begins with an empty one.
    private var memo = TicketMemo()
    /// The last text that was a whole list, for the same purpose.
    private var lastText: ItemsText?

    private enum CodingKeys: CodingKey { case viewed, hasConnected, links }

    init() {}

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        if envelope.kind.is(.recorderLink) {
            return noteConnection(envelope, into: &changes, context: &context)
        }
        // A client's request names the project that it views.
        if envelope.attributes["dir"] == "out" { return noteView(payload, context: &context) }
        links.heard(envelope)
        let source = context.names.id(envelope.source.rawValue)
        if envelope.kind.is(.serverSentEvent) {
            return readEvent(payload, source: source, into: &changes, context: &context)
        }
        guard !readList(payload, source: source, into: &changes, context: &context) else { return }
        guard let value = try? JSONValue.parse(payload) else {
            return context.issue("items message: not one JSON text")
        }
        // Messages about the agent's state come between the lists.
        if value["type"]?.string != "agent" { context.issue("items message: no snapshot of a list") }
    }

    /// Notes a link of the source that opened or closed.
    mutating func linkChanged(_ envelope: Envelope) { links.linkChanged(envelope) }

    /// Notes an event that came in on a connection and is no list.
    mutating func heard(_ envelope: Envelope) {
        if envelope.attributes["dir"] != "out" { links.heard(envelope) }
    }

    func collectNeeded(into sequences: inout SequenceSet) {}

    func normalForm(names: Names, into take: (JSONValue) -> Void) { take(links.facts) }

    /// The connections: a compaction drops the events that gave them.
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { links.facts }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        if !facts.isNull { links = try ItemLinks(facts: facts) }
    }
}

extension ItemsDecoder {
    /// Reads an event. If its `data` lines together are one list in JSON, it is that list; else each line is a ticket.
    ///
    /// An event without data empties the list if it has an id: the server numbers each push of a list, and the push of
    /// an empty list has no lines. Without an id it is a sign of life, which changes nothing.
    private mutating func readEvent(
        _ payload: UnsafeRawBufferPointer,
        source: EntityID,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let event = Self.event(payload, context.rules)
        let lines = event.data.filter { !$0.isEmpty }
        if lines.isEmpty {
            guard event.hasID, !context.rules.contains(.emptyEventIsNoSnapshot) else { return }
            return changes.append(.item(.snapshot(list: source, items: [], isWhole: true)))
        }
        // The standard joins `data` fields by LF, empty ones included.
        var joined = event.data[0]
        if event.data.count > 1 { joined.reserveCapacity(event.data.reduce(0) { $0 + $1.count + 1 }) }
        for line in event.data.dropFirst() {
            joined.append(0x0A)
            joined += line
        }
        let isList = joined.withUnsafeBytes { readList($0, source: source, into: &changes, context: &context) }
        if !isList { readTickets(lines, of: .stream, list: source, into: &changes, context: &context) }
    }

    /// The event as it arrives: whole or, for a client that converts each piece of 1,024 bytes by itself, without the
    /// pieces that are no text.
    private static func event(_ payload: UnsafeRawBufferPointer, _ rules: ReadingRules) -> ServerSentEvent {
        guard rules.contains(.piecesCutCharacters) else { return ServerSentEvent(payload, rules: rules) }
        return ServerSentEvent.wholePieces(of: payload).withUnsafeBytes { ServerSentEvent($0, rules: rules) }
    }

    /// Reads a text that is a whole list; false if it is none.
    private mutating func readList(
        _ text: UnsafeRawBufferPointer,
        source: EntityID,
        into changes: inout [Change],
        context: inout FoldContext
    ) -> Bool {
        guard let snapshot = lastText?.next(text) ?? (try? ItemsText(text)) else { return false }
        lastText = snapshot
        let list = snapshot.project.map { viewed ?? context.names.id($0) } ?? source
        readTickets(snapshot.elements, of: .array, list: list, into: &changes, context: &context)
        return true
    }

    /// Switches a reconnected client to the personal list and empties the list viewed before.
    private mutating func noteConnection(
        _ envelope: Envelope,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        guard context.rules.contains(.reconnectShowsThePersonalList), envelope.attributes["link"] == "open" else {
            return
        }
        defer { hasConnected = true }
        guard hasConnected, let left = viewed else { return }
        let personal = context.names.id("user")
        if left != personal { changes.append(.item(.snapshot(list: left, items: [], isWhole: true))) }
        viewed = personal
    }

    /// Notes the project of a client's request. A request without a project leaves the viewed one or, by its rule,
    /// means the personal list.
    private mutating func noteView(_ payload: UnsafeRawBufferPointer, context: inout FoldContext) {
        guard context.rules.contains(.anyListIsTheViewedOne) else { return }
        let said = (try? JSONValue.parse(payload))?.object
        if let project = said?["project"]?.string {
            viewed = context.names.id(project)
        } else if said != nil, context.rules.contains(.noProjectIsThePersonalList) {
            viewed = context.names.id("user")
        }
    }

    /// The kind of a snapshot's parts, as issues name them.
    private enum Form: String {
        case stream = "data line"
        case array = "element"
    }

    /// Reads the parts of a snapshot and adds the snapshot as one change.
    ///
    /// A part that cannot be read is an issue and makes the snapshot incomplete: items that it lacks stay. Parts about
    /// the agent's state alone are no snapshot at all.
    ///
    /// - Parameter texts: the parts of the snapshot; those of a stream may be malformed JSON.
    private mutating func readTickets(
        _ texts: [[UInt8]],
        of form: Form,
        list: EntityID,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let tickets = memo.tickets(of: texts, in: list) { text in
            let value = text.withUnsafeBytes { try? JSONValue.parse($0) }
            return Ticket(value, rules: context.rules, names: &context.names)
        }
        if let items = memo.items(of: list) {
            return changes.append(.item(.snapshot(list: list, items: items, isWhole: true)))
        }
        var items: [ItemFields] = []
        var seen: Set<EntityID> = []
        items.reserveCapacity(texts.count)
        seen.reserveCapacity(texts.count)
        var isWhole = true
        var otherCount = 0
        for (index, ticket) in tickets.enumerated() {
            switch ticket {
            case .item(let item):
                if seen.insert(item.id).inserted { items.append(item); continue }
                context.issue("items snapshot: \(form.rawValue) \(index + 1): the id stands twice; the first counts")
            case .notATicket:
                otherCount += 1
            case .fault(let reason):
                context.issue("items snapshot: \(form.rawValue) \(index + 1): \(reason)")
                // Decoding an array fails at its first bad element, so the later ones are not reported either.
                if form == .array, context.rules.contains(.badElementFailsTheArray) { return }
                isWhole = isWhole && form == .stream && context.rules.contains(.badTicketIsLeftOut)
            }
        }
        if items.isEmpty && otherCount > 0 { return }
        if items.isEmpty, form == .stream, context.rules.contains(.emptyEventIsNoSnapshot) { return }
        if items.count == texts.count, !items.isEmpty { memo.note(items, of: list) }
        changes.append(.item(.snapshot(list: list, items: items, isWhole: isWhole)))
    }
}
