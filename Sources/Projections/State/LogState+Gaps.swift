public import EventLog

extension LogState {
    /// The times in which changes may be missing, by recorders and by frames; ordered by source, then by their
    /// beginnings (I29).
    public var gaps: [(source: SourceName, gap: Gap)] { gaps(lastSigns: [:]) }

    /// The live recorders that the log says are connected.
    public var connected: [SourceName] { sources.filter(\.parts.recorderGaps.isConnected).map(\.name).sorted() }

    /// The gaps, with those of recorders that ended without a word. The log cannot tell of a killed recorder, but its
    /// lock can.
    ///
    /// - Parameter lastSigns: the recorders of `connected` that do not run, and when each is last known to have
    ///   listened; `nil` for the time of its last event.
    public func gaps(lastSigns: [SourceName: Timestamp?]) -> [(source: SourceName, gap: Gap)] {
        sources.sorted { $0.name < $1.name }.flatMap { source in
            var gaps = source.gaps
            if let sign = lastSigns[source.name], source.parts.recorderGaps.isConnected,
                !gaps.contains(where: { $0.topic == nil && $0.to == nil }), let from = sign ?? source.clock
            {
                let place = gaps.firstIndex { $0.from > from } ?? gaps.endIndex
                gaps.insert(Gap(topic: nil, from: from, to: nil, reason: "stopped"), at: place)
            }
            return gaps.map { (source.name, $0) }
        }
    }
}

extension SourceState {
    /// The recorder's gaps, and those that only frames show. Both may report one outage, which is then listed once: the
    /// recorder's report, with the numbers of the holes that it covers. Sorted by beginning; equal ones in this order.
    fileprivate var gaps: [Gap] {
        let missing = parts.gateway.connections.holes.gaps
        let told = parts.recorderGaps.gaps.map { $0.naming(missing) }
        let channels = parts.realtime.gaps().filter { gap in
            !told.contains { ($0.topic == gap.topic && $0.from == gap.from) || $0.contains(gap) }
        }
        let lost = (parts.gateway.connections.outages.gaps + parts.itemMessages.links.outages.gaps).filter { gap in
            !told.contains { $0.isOutage && $0.meets(gap) }
        }
        let holes = missing.filter { hole in
            !told.contains { $0.reason == SequenceHoles.reason && $0.covers(hole) }
        }
        return (told + channels + lost + holes).enumerated()
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

    /// Whether a recorder reports with the gap that the whole source was not heard, and not that one frame was lost.
    fileprivate var isOutage: Bool { topic == nil && reason != SequenceHoles.reason && reason != "oversize" }

    /// Whether the two intervals overlap. The recorder knows more of when it listened than its frames show, so its
    /// report stands for the whole outage; one that goes on is reported by a gap that does.
    fileprivate func meets(_ other: Gap) -> Bool { other.to == nil ? to == nil : covers(other) }

    /// Whether the gap concerns all that another one does, for all of its time.
    fileprivate func contains(_ other: Gap) -> Bool {
        guard topic == nil || Sameness.areSame(topic, other.topic), from <= other.from else { return false }
        guard let to else { return true }
        return other.to.map { $0 <= to } ?? false
    }
}
