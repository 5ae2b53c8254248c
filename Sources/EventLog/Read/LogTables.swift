/// The tables of a generation's environment, in the order of their handles.
struct LogTables {
    static let events = "events"
    static let names = ["meta", events, "gaps", "nodes", "lanes", "keys", "facts", "bookmarks"]

    let meta: Table
    let events: Table
    let gaps: Table
    let nodes: Table
    let lanes: Table
    let keys: Table
    let facts: Table
    let bookmarks: Table

    /// Names the tables of an environment that was opened with `names`.
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
    static let all = [identity, successor, decidedAt, acts, part]

    /// The log's sixteen bytes, as in FORMAT.
    static let identity = "identity"
    /// u32: the number of the generation that took this one's place. Absent in the newest.
    static let successor = "successor"
    /// u64: the head at the moment when the last compaction was decided. Absent before the first.
    static let decidedAt = "decidedAt"
    /// u64 …: the sequence of the act of each rewrite that dropped or redacted events, by its number less one.
    static let acts = "acts"
    /// One byte, 1: the log is a part of another one and lacks some of its events. Absent in a whole log.
    static let part = "part"
}
