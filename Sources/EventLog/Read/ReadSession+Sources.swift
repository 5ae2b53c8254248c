extension ReadSession {
    /// The sources of the log, each with the kinds of its events. Cost: reads lanes, no events.
    ///
    /// May include sources and kinds whose events were all dropped.
    public func kindsBySource() throws -> [SourceName: Set<EventKind>] {
        try reader.lanes.load(from: reader)
        // Other sessions of the process may have seen later lanes (I6).
        let count = try reader.view.count(of: reader.tables.lanes)
        return reader.lanes.known.prefix(Int(clamping: count)).reduce(into: [:]) {
            $0[$1.source, default: []].insert($1.kind)
        }
    }
}
