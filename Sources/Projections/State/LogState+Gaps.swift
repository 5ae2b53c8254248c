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
        let reports = parts.recorderGaps.gaps
        let told = Self.naming(missing, in: reports)
        let byTopic = Dictionary(grouping: told) { $0.topic.map { ExactText($0) } }.mapValues(GapIndex.init)
        let beginnings = Set(told.map { TopicBeginning(topic: $0.topic, from: $0.from) })
        let channels = parts.realtime.gaps().filter { gap in
            // What a report says of the whole source, or of the topic for all of the gap's time, stands for it.
            !beginnings.contains(TopicBeginning(topic: gap.topic, from: gap.from))
                && ![nil, gap.topic.map { ExactText($0) }].contains {
                    byTopic[$0]?.has(from: gap.from, to: gap.to) ?? false
                }
        }
        let outages = told.filter(\.isOutage)
        let (known, isOpen) = (GapIndex(outages), outages.contains { $0.to == nil })
        let lost = (parts.gateway.connections.outages.gaps + parts.itemMessages.links.outages.gaps).filter { gap in
            // The recorder knows more of when it listened than its frames show, so its report stands for the whole outage; one
            // that goes on is reported by a gap that does.
            gap.to.map { !known.has(from: $0, to: gap.from) } ?? !isOpen
        }
        let toldHoles = GapIndex(told.filter { $0.reason == SequenceHoles.reason })
        let holes = missing.filter { hole in hole.to.map { !toldHoles.has(from: $0, to: hole.from) } ?? true }
        return (told + channels + lost + holes).enumerated()
            .sorted { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) }
            .map(\.element.inOrder)
    }

    /// The topic and the beginning of a gap.
    private struct TopicBeginning: Hashable {
        let topic: String?
        let from: Timestamp
    }

    /// A hole stands with no more than so many reports, those that begin first.
    private static let namedMax = 16

    /// The recorder's reports, with the numbers of the holes whose times they overlap.
    private static func naming(_ holes: [Gap], in reports: [Gap]) -> [Gap] {
        var told = reports
        let places = told.indices.filter { told[$0].reason == SequenceHoles.reason }
        let index = GapIndex(places.map { told[$0] })
        for hole in holes {
            guard let end = hole.to else { continue }
            for found in index.first(namedMax, from: end, to: hole.from) {
                told[places[found]].numbers += hole.numbers
            }
        }
        return told
    }
}

extension Gap {
    /// The gap, which ends no earlier than it begins, also if the recorder's clock was set back within it.
    fileprivate var inOrder: Gap {
        var gap = self
        gap.to = to.map { max($0, from) }
        return gap
    }

    /// Whether a recorder reports with the gap that the whole source was not heard, and not that one frame was lost.
    fileprivate var isOutage: Bool { topic == nil && reason != SequenceHoles.reason && reason != "oversize" }
}
