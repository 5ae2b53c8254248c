import EventLog

/// Reads realtime frames: `realtime.frame/1`, and `recorder.link/1` for the subscriptions.
///
/// Only inbound `postgres_changes` frames change rows. Rows of `conversations` become channels and messages, rows of
/// `tasks` items; what they were is kept here, because a late change says something only beside those that came before.
struct RealtimeDecoder: EventDecoder {
    private var conversations = RealtimeConversations()
    private var tasks = RealtimeTasks()
    private var subscriptions = RealtimeSubscriptions()
    private var client = RealtimeClient()

    init() {}

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        switch envelope.kind.rawValue {
        case "recorder.link/1": return subscriptions.linkChanged(at: context.event)
        case EventFamily.realtimeAnswerKind:
            return readAnswer(envelope, payload: payload, into: &changes, context: &context)
        default: break
        }
        let isInbound = envelope.attributes["dir"] != "out"
        let frame = RealtimeFrame(payload)
        subscriptions.observe(frame, isInbound: isInbound, at: context.event)
        switch frame {
        case .malformed(let reason): context.issue("realtime frame: \(reason)")
        case .binary: break
        case .message(_, "postgres_changes", let payload) where isInbound:
            read(payload["data"], into: &changes, context: &context)
        case .message(_, let event, _):
            if !RealtimeFrame.knownEvents.contains(event) { context.issue("realtime frame: unknown event") }
        }
    }

    /// The times between subscriptions of a topic, by their beginnings, then topics.
    func gaps() -> [Gap] { subscriptions.gaps }

    func collectNeeded(into sequences: inout Set<UInt64>) {
        conversations.collectNeeded(into: &sequences)
        tasks.collectNeeded(into: &sequences)
    }

    func snapshot(names: Names, into take: (JSONValue) -> Void) {
        conversations.snapshot(names: names, into: take)
        tasks.snapshot(names: names, into: take)
        take(subscriptions.facts)
    }

    /// Subscriptions follow from frames that no row needs.
    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue { subscriptions.facts }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        if !facts.isNull { subscriptions = try RealtimeSubscriptions(facts: facts) }
    }

    private mutating func read(_ data: JSONValue?, into changes: inout [Change], context: inout FoldContext) {
        guard let object = data?.object else { return context.issue("realtime change: data is no object") }
        switch RowChange.read(object, names: &context.names) {
        case .failure(let fault):
            context.issue("realtime change: \(fault.reason)")
        case .success(let change) where Self.passesOver(change, object, context.rules): break
        case .success(let change):
            apply(change, of: object["table"]?.string, into: &changes, context: &context)
        }
    }

    /// Whether a client finds nothing of its own in a deletion, which names the primary key alone.
    private static func passesOver(_ change: RowChange, _ data: JSONObject, _ rules: ReadingRules) -> Bool {
        guard change.operation == .delete, rules.contains(.keyOnlyDeletionIsNotRead) else { return false }
        return data["old_record"]?["channel_id"] == nil
    }

    /// Gives a change to whatever its table's rows are, once a client hears of it.
    mutating func apply(
        _ change: RowChange,
        of table: String?,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        if context.rules.isEmpty { return give(change, of: table, into: &changes, context: &context) }
        for change in client.heard(change, of: table, in: context) {
            give(change, of: table, into: &changes, context: &context)
        }
    }

    private mutating func give(
        _ change: RowChange,
        of table: String?,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        switch table {
        case "conversations": conversations.apply(change, into: &changes, context: &context)
        case "tasks": tasks.apply(change, into: &changes, context: &context)
        default: changes.append(.row(change))
        }
    }
}
