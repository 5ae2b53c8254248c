public import EventLog

extension LogState {
    /// The times in which changes may be missing, by recorders and by frames; ordered by source, then by their
    /// beginnings (I29).
    public var gaps: [(source: SourceName, gap: Gap)] {
        sources.sorted { $0.name < $1.name }.flatMap { source in source.gaps.map { (source.name, $0) } }
    }
}

extension SourceState {
    /// The recorder's gaps, and those that only frames show. Both may report one outage, which is then listed once: the
    /// recorder's report, with the numbers of the holes that it covers. Sorted by beginning; equal ones in this order.
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
            .map(\.element.inOrder)
    }
}

extension Gap {
    /// The gap, which ends no earlier than it begins, also if the recorder's clock was set back within it.
    fileprivate var inOrder: Gap {
        var gap = self
        gap.to = to.map { max($0, from) }
        return gap
    }

    /// The gap, with the numbers of the holes that it covers.
    fileprivate func naming(_ holes: [Gap]) -> Gap {
        guard reason == SequenceHoles.reason else { return self }
        var gap = self
        gap.numbers = holes.filter(covers).flatMap(\.numbers)
        return gap
    }

    /// Whether the two intervals overlap; `to` is `nil` for one that is still open. An open gap is covered only by an
    /// open one that begins no later.
    fileprivate func covers(_ other: Gap) -> Bool {
        guard let end = other.to else { return to == nil && from <= other.from }
        return from <= end && (to.map { $0 >= other.from } ?? true)
    }
}
