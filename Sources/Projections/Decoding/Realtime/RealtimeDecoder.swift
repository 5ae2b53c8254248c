import EventLog
import JSON
import Kinds

/// Reads realtime frames (`realtime.frame/1`), answers of PostgREST (`realtime.rest/1`), and `recorder.link/1` for the
/// subscriptions.
///
/// Only inbound `postgres_changes` frames and answers change rows. Rows of `conversations` become channels and
/// messages, rows of `tasks` become items. The decoder keeps these rows: a late change takes effect among earlier ones.
/// Rows of all other tables go to the fold `Rows`, which keeps them itself.
struct RealtimeDecoder: SourceDecoder {
    private var conversations = RealtimeConversations()
    private var tasks = RealtimeTasks()
    private var subscriptions = RealtimeSubscriptions()
    /// A client's memory beside the state; empty under the canonical profile.
    private var client = RealtimeClient()
    /// Saves reading only: it changes no result and is not saved, so a loaded state begins with an empty one.
    var shapes = RowShapes()

    /// Whether the tables `conversations` and `tasks` are the app's; if not, their rows are rows. Not saved, as `key`.
    var readsTables = true
    /// The log's key, for finding repeated changes (I26). Not saved: the owner sets it, and sets it again after a load.
    var key = FrameKey.none

    private enum CodingKeys: CodingKey { case conversations, tasks, subscriptions, client }

    init() {}

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        if envelope.kind.is(.recorderLink) { return subscriptions.linkChanged(at: context.event) }
        if envelope.kind.is(.realtimeREST) {
            return readAnswer(envelope, payload: payload, into: &changes, context: &context)
        }
        let isInbound = envelope.attributes["dir"] != "out"
        let frame = RealtimeFrame(payload, key: key, &shapes)
        // Every frame counts here, malformed ones too: an inbound frame proves that the recorder listened.
        subscriptions.observe(frame, payload, isInbound: isInbound, at: context.event)
        switch frame.form {
        case .malformed(let reason): context.issue("realtime frame: \(reason)")
        case .binary: break
        case .message:
            if isInbound, frame.event == "postgres_changes" {
                switch frame.payload.change {
                case .some(let row): read(row, into: &changes, context: &context)
                case .none: context.issue("realtime change: data is no object")
                }
            } else if !RealtimeFrame.knownEvents.contains(frame.event.string) {
                context.issue("realtime frame: unknown event")
            }
        }
    }

    /// The times when a subscribed topic was not subscribed, in the order in which they were found.
    func gaps() -> [Gap] { subscriptions.gaps }

    func collectNeeded(into sequences: inout SequenceSet) {
        conversations.collectNeeded(into: &sequences)
        tasks.collectNeeded(into: &sequences)
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        conversations.normalForm(names: names, into: take)
        tasks.normalForm(names: names, into: take)
        take(subscriptions.facts)
    }

    /// The subscriptions: a compaction drops the frames that gave them.
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { subscriptions.facts }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        if !facts.isNull { subscriptions = try RealtimeSubscriptions(facts: facts) }
    }

    private mutating func read(
        _ row: borrowing RealtimeRow,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        var change: RowChange
        do throws(RowChange.Fault) {
            change = try RowChange(row, names: &context.names)
        } catch {
            return context.issue("realtime change: \(error.reason)")
        }
        if Self.passesOver(change, row, context.rules) { return }
        if let old = change.takeMove(from: row.oldID(&context.names)) {
            apply(old, row, into: &changes, context: &context)
        }
        apply(change, row, into: &changes, context: &context)
    }

    private mutating func apply(
        _ change: consuming RowChange,
        _ row: borrowing RealtimeRow,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        // The canonical reading asks for two tables alone, and needs no text of the name.
        if context.rules.isEmpty {
            return give(change, to: readsTables ? Keeper(row) : .rows, into: &changes, context: &context)
        }
        let table = row.isPublic ? row.table?.string : context.names.text(change.table)
        apply(change, of: table, into: &changes, context: &context)
    }

    /// Whether a client ignores a deletion because `old_record` contains the primary key alone, not the channel. That
    /// is what Postgres sends unless the table has `REPLICA IDENTITY FULL`.
    private static func passesOver(_ change: RowChange, _ row: borrowing RealtimeRow, _ rules: ReadingRules) -> Bool {
        guard change.operation == .delete, rules.contains(.keyOnlyDeletionIsNotRead) else { return false }
        return !row.hadColumn("channel_id")
    }

    /// Applies a change of a row: under the canonical profile at once, else when the client notices it.
    ///
    /// - Parameter table: the name of the table as the frame or the answer writes it; outside the schema `public`, the
    ///   name that includes the schema.
    mutating func apply(
        _ change: consuming RowChange,
        of table: String?,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let keeper = readsTables ? Keeper(table) : .rows
        if context.rules.isEmpty { return give(change, to: keeper, into: &changes, context: &context) }
        for change in client.heard(change, of: table, in: context) {
            give(change, to: keeper, into: &changes, context: &context)
        }
    }

    /// The part that keeps a table's rows.
    private enum Keeper {
        case conversations, tasks, rows

        init(_ table: String?) {
            self = table == "conversations" ? .conversations : table == "tasks" ? .tasks : .rows
        }

        /// The app's own tables are in the schema `public`; a table of the same name elsewhere is one like any other.
        init(_ row: borrowing RealtimeRow) {
            guard row.isPublic, let table = row.table else { self = .rows; return }
            self = table == "conversations" ? .conversations : table == "tasks" ? .tasks : .rows
        }
    }

    private mutating func give(
        _ change: consuming RowChange,
        to keeper: Keeper,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        switch keeper {
        case .conversations: conversations.apply(change, into: &changes, context: &context)
        case .tasks: tasks.apply(change, into: &changes, context: &context)
        case .rows: changes.append(.row(change))
        }
    }
}
