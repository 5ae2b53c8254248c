import EventLog

/// Decides which changes of rows reach sideBar's clients, and VibeChannel's client over rows. Only profiles use it.
struct RealtimeClient: Codable, Sendable {
    /// When a client last began to read each table again, by table. Times are those of receipt.
    private var announced: [String: Timestamp] = [:]
    /// The changes held back since then, by table and in log order; they show with the table's next change or answer.
    private var held: [String: [RowChange]] = [:]
    /// The `updated_at` of each conversation.
    private var conversationTimes: [EntityID: JSONValue] = [:]
    /// The listed archived notes, at most `archivedMax`. A note that was listed once stays in it.
    private var archived: Set<EntityID> = []

    private static let archivedMax = 50

    /// The changes that a client applies when `change` arrives, in log order; empty if it notices nothing yet.
    ///
    /// - Parameter table: the table's name as written; `nil` if it is no text.
    mutating func heard(_ change: RowChange, of table: String?, in context: FoldContext) -> [RowChange] {
        var heard = change
        if change.isReading { return read(change, of: table, context.rules) }
        switch table {
        case "tasks" where context.rules.contains(.taskSoonAfterAnotherIsNotAnnounced):
            // A second, in microseconds.
            return announce(heard, of: "tasks", each: 1_000_000, at: context.event.recordedAt)
        case "notes" where context.rules.contains(.noteDuringARefreshIsMissed):
            // Half a second, in microseconds.
            return announce(heard, of: "notes", each: 500_000, at: context.event.recordedAt)
        case "notes": list(&heard, context.rules)
        case "conversations" where context.rules.contains(.conversationNeedsANewTime):
            return isNews(heard) ? [heard] : []
        default: break
        }
        return [heard]
    }

    /// The row of an answer, after the table's held changes.
    private mutating func read(_ change: RowChange, of table: String?, _ rules: ReadingRules) -> [RowChange] {
        var read = change
        if table == "notes" { list(&read, rules) }
        if read.operation != .delete, rules.contains(.answersAreTakenAsTheyArrive) {
            // An insert that is no reading replaces the known row whole, and its `updated_at` is not compared.
            read.isReading = false
            read.operation = .insert
        }
        return (table.flatMap { held.removeValue(forKey: $0) } ?? []) + [read]
    }

    /// Turns a note that the server leaves out of its list into a deletion, which is how its absence shows to the
    /// client.
    private mutating func list(_ change: inout RowChange, _ rules: ReadingRules) {
        let isOut =
            rules.contains(.noteWithoutArchivedIsNotListed) && change.lacksArchived
            || rules.contains(.firstFiftyArchivedAreListed) && !isListed(change)
        if isOut { change.turnIntoDeletion() }
    }

    /// Holds a change back if it comes less than `microseconds` after the last announced one.
    private mutating func announce(
        _ change: RowChange,
        of table: String,
        each microseconds: Int64,
        at now: Timestamp
    ) -> [RowChange] {
        if let last = announced[table] {
            let (age, overflow) = now.microseconds.subtractingReportingOverflow(last.microseconds)
            if !overflow, age < microseconds {
                held[table, default: []].append(change)
                return []
            }
        }
        announced[table] = now
        return (held.removeValue(forKey: table) ?? []) + [change]
    }

    /// Whether a note is active or among the first archived notes, which are listed.
    private mutating func isListed(_ change: RowChange) -> Bool {
        guard change.operation != .delete, change.isArchived else { return true }
        if archived.count < Self.archivedMax { archived.insert(change.id) }
        return archived.contains(change.id)
    }

    /// Whether a conversation's change has another `updated_at` than the one before. A change without the column, and
    /// any insert or deletion, is news.
    private mutating func isNews(_ change: RowChange) -> Bool {
        guard let time = change.record["updated_at"] else { return true }
        defer { conversationTimes[change.id] = time }
        return change.operation != .update || !(conversationTimes[change.id]?.isSameJSON(as: time) ?? false)
    }
}

extension RowChange {
    fileprivate var lacksArchived: Bool {
        operation != .delete && record["metadata"]?.object.map { $0["archived"] == nil } ?? false
    }

    fileprivate var isArchived: Bool {
        let folder = record["metadata"]?["folder"]?.string ?? ""
        return folder == "Archive" || folder.hasPrefix("Archive/")
    }

    fileprivate mutating func turnIntoDeletion() {
        operation = .delete
        record = RowRecord()
        columns = .empty
    }
}
