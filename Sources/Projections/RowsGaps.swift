public import EventLog

extension Workspace {
    /// The times in which changes may be missing, as the frames tell it: by source, then in the order in which they
    /// began.
    public var gaps: [(source: SourceName, gap: Gap)] {
        sources.sorted { $0.name < $1.name }.flatMap { source in
            source.realtime.gaps().map { (source.name, $0) }
        }
    }
}
