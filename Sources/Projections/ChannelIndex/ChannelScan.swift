import EventLog

/// Walks over a log and enters each event in the postings of the channels that it can change. Folds nothing, but
/// decodes every event that is no plain frame. One thread.
struct ChannelScan {
    /// The last event scanned.
    private(set) var sequence: SequenceNumber
    /// The sources met so far. The order is that of their first events, and the index stores it.
    private(set) var sources: [SourceScan]
    /// The entries found since `forgetPostings`.
    private(set) var postings = ChannelPostings()
    /// The messages named since `forgetMentions`.
    private(set) var mentions = MessageMentions()
    private var indexes: [SourceName: Int] = [:]
    private let frameKey: FrameKey
    /// Lanes under the options of a canonical replay of everything: the index serves no other.
    private let lanes = ReplayLanes(ReplayOptions())
    /// The index of each lane's source, by the lane's number.
    private var sourceOfLane: [Int?] = []

    /// Goes on after `sequence`, up to which `sources` were scanned.
    init(after sequence: SequenceNumber = .zero, sources: [SourceScan] = [], frameKey: FrameKey) {
        self.sequence = sequence
        self.frameKey = frameKey
        self.sources = sources
        for (index, source) in sources.enumerated() { indexes[source.name] = index }
    }

    /// Scans the events after `sequence` up to `last`. An error leaves entries of some events behind: the scan is then
    /// to be thrown away.
    mutating func look(at session: borrowing ReadSession, through last: SequenceNumber) throws {
        guard sequence < last else { return }
        try session.forEachEvent(in: sequence.next...last) { event in
            guard !event.isAct, let lane = lanes.included(event) else { return true }
            let source = sourceIndex(event, lane)
            event.withPayload { payload in
                if lanes.mayBePlain(lane), let frame = PlainFrameScanner.frame(payload) {
                    add(frame, event, source: source, connection: lanes.lanes[lane]?.connection)
                } else {
                    add(event.envelope, payload, source: source)
                }
            }
            return true
        }
        sequence = last
    }

    /// The blocks of a channel, oldest first; with `nil`, the blocks of events that concern all channels.
    func blocks(source: Int, channel: String?) -> [[UInt8]] {
        guard let channel else { return postings.blocks(of: .init(source: source, channel: nil)) }
        guard let id = sources[source].id(of: channel) else { return [] }
        return postings.blocks(of: .init(source: source, channel: id))
    }

    /// Notes the sources of which an id was named with several channels.
    mutating func note(strays: Set<Int>) {
        for source in strays { sources[source].hasStrays = true }
    }

    /// Forgets all entries, once they are stored.
    mutating func forgetPostings() {
        postings = ChannelPostings()
    }

    /// Forgets all mentions, once they are stored.
    mutating func forgetMentions() {
        mentions = MessageMentions()
    }

    @inline(__always)
    private mutating func add(
        _ frame: PlainFrame,
        _ event: borrowing EventView,
        source: Int,
        connection: String?
    ) {
        let reference = EventReference(sequence: event.sequence, recordedAt: event.recordedAt)
        // Repeats are detected in undivided sources, too: what is stored of connections must not depend on that.
        guard !sources[source].isRepeat(frame, reference, connection: connection), sources[source].isDivided
        else { return }
        postings.add(frame, reference, source: source)
        mentions.add(frame.key, source: source)
    }

    /// Adds an event that is no plain frame. Decodes it even in an undivided source, as decoders remember connections.
    private mutating func add(_ envelope: Envelope, _ payload: UnsafeRawBufferPointer, source: Int) {
        let sequence = envelope.sequence
        let scope = sources[source].scope(of: envelope, payload: payload)
        guard sources[source].isDivided else { return }
        for key in sources[source].namedMessages { mentions.add(key, source: source) { sources[source].text($0) } }
        switch scope {
        case .nothing, .undivided: break
        case .channels(let channels):
            for channel in channels { postings.add(.reference, at: sequence, of: channel, source: source) }
        case .everything(let named):
            postings.add(.reference, at: sequence, of: nil, source: source)
            for channel in named { postings.add(.naming, at: sequence, of: channel, source: source) }
        }
    }

    @inline(__always)
    private mutating func sourceIndex(_ event: borrowing EventView, _ lane: Int) -> Int {
        if lane < sourceOfLane.count, let source = sourceOfLane[lane] { return source }
        return addLane(event, lane)
    }

    /// Finds the source of a lane at its first event; adds the source if it is new.
    @inline(never)
    private mutating func addLane(_ event: borrowing EventView, _ lane: Int) -> Int {
        while sourceOfLane.count <= lane { sourceOfLane.append(nil) }
        let name = event.source
        if indexes[name] == nil {
            indexes[name] = sources.count
            sources.append(SourceScan(name: name, frameKey: frameKey))
        }
        let source = indexes[name] ?? 0
        sourceOfLane[lane] = source
        return source
    }
}
