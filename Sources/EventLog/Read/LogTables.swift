/// The tables of a generation's environment, in the order of their handles. `docs/format.md` has their keys and values.
struct LogTables {
    static let events = "events"
    static let nodes = "nodes"
    static let names = ["meta", events, "gaps", nodes, "lanes", "keys", "facts", "bookmarks"]

    let meta: Table
    let events: Table
    let gaps: Table
    let nodes: Table
    let lanes: Table
    let keys: Table
    let facts: Table
    let bookmarks: Table

    /// Takes the tables of an environment that was opened with `names`, in their order.
    init(_ tables: [Table]) {
        precondition(tables.count == Self.names.count, "an environment of a log has \(Self.names.count) tables")
        meta = tables[0]
        events = tables[1]
        gaps = tables[2]
        nodes = tables[3]
        lanes = tables[4]
        keys = tables[5]
        facts = tables[6]
        bookmarks = tables[7]
    }
}

/// The names in the table `meta`.
enum MetaName {
    static let all = [identity, successor, decidedAt, acts, part, sealed]

    /// The log's sixteen bytes, as in FORMAT.
    static let identity = "identity"
    /// u32: the number of the generation that replaced this one. Absent in the newest.
    static let successor = "successor"
    /// u64: the head when the last compaction was decided. Absent before the first.
    static let decidedAt = "decidedAt"
    /// u64 …: the sequence of each rewrite's act. That of rewrite n, counted from 1, is at index n − 1.
    static let acts = "acts"
    /// One byte, 1: the log is a part, which lacks some events of another log. Absent in a whole log.
    static let part = "part"
    /// u64 ‖ u64 ‖ u64: the last sequence that is sealed, how many blocks the table `events` has, and how many events they hold.
    /// Absent where nothing is sealed.
    static let sealed = "sealed"
}
