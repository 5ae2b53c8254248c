extension ReadSession {
    /// The sources of the log, each with the kinds of its events. Cost: reads lanes, no events.
    ///
    /// May include sources and kinds whose events were all dropped.
    public func kindsBySource() throws -> [SourceName: Set<EventKind>] {
        try reader.lanes.load(from: reader)
        return reader.lanes.known.reduce(into: [:]) { $0[$1.source, default: []].insert($1.kind) }
    }
}
