extension ReadSession {
    /// The sources that events came from, each with the kinds of its events. Cost: reads no event.
    ///
    /// Sources and kinds of which every event was dropped may be among them.
    public func kindsBySource() throws -> [SourceName: Set<EventKind>] {
        try reader.lanes.load(from: reader)
        return reader.lanes.known.reduce(into: [:]) { $0[$1.source, default: []].insert($1.kind) }
    }
}
