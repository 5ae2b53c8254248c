import EventLog
import JSON

/// The channels whose rows the events of a range can change, if those events can change no other rows (I21). Found
/// without folding: one walk over the range, which decodes every event that is no plain frame. Of a search, only the events
/// count that can bring what it wants.
///
/// May contain too many channels: repeats of frames are not detected.
struct TouchedChannels {
    /// More events are not looked at one by one: they mostly change more channels than are worth folding one by one.
    static let eventsMax: UInt64 = 16_384
    /// More channels than this are not folded one by one.
    private static let channelsMax = 256

    private var sources: [SourceName: Source] = [:]

    /// Walks over the events after one point up to another; `nil` if one of them can change rows that are of no channel
    /// or leave an issue, or they are too many or name too many channels.
    ///
    /// - Parameter text: If given, only events count whose payload may hold it.
    /// - Throws: `EventLogError` if the log cannot be read.
    init?(
        _ session: borrowing ReadSession,
        after first: SequenceNumber,
        through last: SequenceNumber,
        holding text: TextSearch? = nil
    ) throws {
        guard first < last else { return }
        // Under the options of a canonical replay of everything: the index serves no other.
        let lanes = ReplayLanes(ReplayOptions())
        var (isOfChannels, count) = (true, UInt64(0))
        try session.forEachEvent(in: first.next...last) { event in
            guard !event.isAct, let lane = lanes.included(event) else { return true }
            isOfChannels = event.withPayload { payload in
                if let text, !text.occursUnescaped(in: payload) { return true }
                count += 1
                return count <= Self.eventsMax && add(event, payload, mayBePlain: lanes.mayBePlain(lane))
            }
            return isOfChannels
        }
        guard isOfChannels else { return nil }
    }

    /// Whether the events change nothing.
    var isEmpty: Bool { sources.values.allSatisfy(\.channels.isEmpty) }

    /// The channels, sorted by source, then id: the order of a state document.
    var sorted: [(source: SourceName, channel: String)] {
        sources.sorted { $0.key < $1.key }.flatMap { name, source in
            source.scan.sorted(Array(source.channels)).map { (name, source.scan.text($0)) }
        }
    }

    /// Adds the channels of one event; false if it can change other rows, or the channels are too many.
    private mutating func add(
        _ event: borrowing EventView,
        _ payload: UnsafeRawBufferPointer,
        mayBePlain: Bool
    ) -> Bool {
        let name = event.source
        guard sources[name, default: Source(name)].add(event, payload, mayBePlain: mayBePlain) else { return false }
        return sources.values.reduce(0) { $0 + $1.channels.count } <= Self.channelsMax
    }
}

extension TouchedChannels {
    /// The channels of one source.
    private struct Source {
        var scan: SourceScan
        var channels: Set<EntityID> = []

        init(_ name: SourceName) { scan = SourceScan(within: name) }

        mutating func add(
            _ event: borrowing EventView,
            _ payload: UnsafeRawBufferPointer,
            mayBePlain: Bool
        ) -> Bool {
            if mayBePlain, let frame = PlainFrameScanner.frame(payload) {
                channels.insert(frame.channel)
                return true
            }
            guard let named = scan.onlyChannels(of: event.envelope, payload: payload) else { return false }
            channels.formUnion(named)
            return true
        }
    }
}
