public import EventLog

extension Workspace {
    /// The times in which changes may be missing, as the recorders and the frames tell it: by source, then in the order in
    /// which they began.
    public var gaps: [(source: SourceName, gap: Gap)] {
        sources.sorted { $0.name < $1.name }.flatMap { source in source.gaps.map { (source.name, $0) } }
    }
}

extension SourceState {
    /// What the recorder tells, and what only the frames tell: of one outage both may speak.
    fileprivate var gaps: [Gap] {
        let missing = parts.gateway.connections.holes.gaps
        let told = parts.recorderGaps.gaps.map { $0.naming(missing) }
        let channels = parts.realtime.gaps().filter { gap in
            !told.contains { $0.topic == gap.topic && $0.from == gap.from }
        }
        let holes = missing.filter { hole in
            !told.contains { $0.reason == SequenceHoles.reason && $0.covers(hole) }
        }
        return (told + channels + holes).enumerated()
            .sorted { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) }
            .map(\.element)
    }
}

extension Gap {
    /// The gap with the numbers of the holes that it is about.
    fileprivate func naming(_ holes: [Gap]) -> Gap {
        guard reason == SequenceHoles.reason else { return self }
        var gap = self
        gap.numbers = holes.filter(covers).flatMap(\.numbers)
        return gap
    }

    fileprivate func covers(_ other: Gap) -> Bool {
        guard let end = other.to else { return to == nil && from <= other.from }
        return from <= end && (to.map { $0 >= other.from } ?? true)
    }
}
