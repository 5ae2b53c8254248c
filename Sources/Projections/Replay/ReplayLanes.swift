import EventLog
import Kinds

/// The lanes of a log (one source, kind and attributes each) and how a replay treats their events, found once per lane.
/// Lane numbers are those of one session's log. Only the reading thread uses it; folding threads get copies of `lanes`.
///
/// A class, because it is used at each event, and a value would be copied each time.
final class ReplayLanes {
    /// The properties that the events of a lane share.
    struct Lane: Sendable {
        let source: SourceName
        let connection: String?
    }

    /// How a replay treats the events of a lane. `unknown` until its first event comes.
    private enum Treatment: UInt8 {
        case unknown
        case leftOut
        case included
        /// Included, and its events may take the short way (I18).
        case plain
    }

    /// By number; `nil` for lanes whose events have not come yet.
    private(set) var lanes: [Lane?] = []
    private var treatments: [Treatment] = []
    private let options: ReplayOptions
    /// As `ReadingRules.takesPlainFrames`.
    private let takesPlainFrames: Bool

    init(_ options: ReplayOptions) {
        self.options = options
        takesPlainFrames = options.rules.takesPlainFrames
    }

    /// The number of an event's lane; `nil` if the replay leaves the event out.
    @inline(__always)
    func included(_ event: borrowing EventView) -> Int? {
        if !options.without.isEmpty, options.without.contains(event.sequence) { return nil }
        let number = Int(event.laneNumber)
        if number >= treatments.count || treatments[number] == .unknown { add(event, number) }
        return treatments[number] == .leftOut ? nil : number
    }

    /// Whether plain frames of an included lane take the short way: inbound gateway frames, unless a reading rule needs the
    /// long one.
    @inline(__always)
    func mayBePlain(_ lane: Int) -> Bool { treatments[lane] == .plain }

    @inline(never)
    private func add(_ event: borrowing EventView, _ number: Int) {
        while lanes.count <= number {
            lanes.append(nil)
            treatments.append(.unknown)
        }
        assert(lanes.count == treatments.count, "every lane has one treatment")
        lanes[number] = Lane(source: event.source, connection: event.attributes["connection"])
        let isFrame = event.kind.rawValue == GatewayDecoder.frameKind && event.attributes["dir"] != "out"
        if !(options.sources?.contains(event.source) ?? true) {
            treatments[number] = .leftOut
        } else {
            treatments[number] = takesPlainFrames && isFrame && !event.isAct ? .plain : .included
        }
    }
}

/// A state that a replay fills; it maps lanes to sources. For one thread at a time.
struct ReplayedState {
    /// The state. `ReplayBatch` applies events to it.
    var logState: LogState
    /// The index of each lane's source in the state, by the lane's number; `nil` until the lane's first plain
    /// frame. Indexes never change, as sources are only added.
    private var sources: [Int?] = []
    /// For each event folded, the bucket of its channel if it is a plain frame, else 0; `nil` if not noted.
    private(set) var buckets: [UInt8]?
    /// Takes the results of reading ahead, which nobody uses: reads without a use would be optimized away.
    private var lastRead: UInt64 = 0

    /// - Parameter notesBuckets: whether to note the buckets of the events' channels.
    init(_ logState: LogState, notesBuckets: Bool = false) {
        self.logState = logState
        buckets = notesBuckets ? [] : nil
    }

    /// The index in the state of the source that a lane's frames are applied to.
    @inline(__always)
    mutating func source(ofLane number: Int, _ lanes: [ReplayLanes.Lane?]) -> Int? {
        if number >= sources.count || sources[number] == nil { add(number, lanes) }
        return sources[number]
    }

    /// Notes the bucket of an event's channel, 0 for an event without one.
    @inline(__always)
    mutating func noteBucket(of channel: EntityID?) {
        buckets?.append(channel.map { ChannelShare.bucket(of: $0) } ?? 0)
    }

    /// Looks up the lookups and authors of many plain frames, one table after another, so that their cache misses
    /// overlap: looked up frame by frame, each would wait for memory alone. Asks for the frames' bytes first, as another
    /// processor may have read them.
    ///
    /// Only a hint: a channel or author that is new here gets no lookup or place, and folding finds it itself.
    mutating func prepareLookups(_ steps: UnsafeMutableBufferPointer<ReplayBatch.Step>) {
        for index in steps.indices { steps[index].frame.bytes.prefetch() }
        // Each step initializes one hash at most, and only initialized ones are read. Hashes of neighbouring steps of
        // one source are read ahead together.
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: steps.count) { hashes in
            var (start, count, last) = (0, 0, -1)
            for index in steps.indices {
                let lane = steps[index].lane
                steps[index].lookup = nil
                guard lane < sources.count, let source = sources[lane] else { continue }
                guard let lookup = logState.sources[source].parts.messages.store.lookup(of: steps[index].frame.key)
                else {
                    continue
                }
                steps[index].lookup = lookup
                if logState.sources[source].parts.messages.store.channels[lookup.channel].isLeftOut { continue }
                if source != last {
                    readAhead(hashes[start..<count], last)
                    (start, last) = (count, source)
                }
                hashes.initializeElement(at: count, to: lookup.hash)
                count += 1
            }
            readAhead(hashes[start..<count], last)
        }
        for index in steps.indices {
            guard let lookup = steps[index].lookup, let source = sources[steps[index].lane],
                !logState.sources[source].parts.messages.store.channels[lookup.channel].isLeftOut
            else { continue }
            let id = steps[index].frame.id
            steps[index].lookup?.place = logState.sources[source].parts.messages.store.place(of: id, at: lookup)
        }
        for index in steps.indices where steps[index].frame.happening == .written {
            guard let lookup = steps[index].lookup, let source = sources[steps[index].lane],
                !logState.sources[source].parts.messages.store.channels[lookup.channel].isLeftOut
            else { continue }
            steps[index].lookup?.author = logState.sources[source].parts.messages.store.authors.knownPlace(
                id: steps[index].frame.author,
                name: steps[index].frame.authorName
            )
        }
    }

    /// Reads ahead for the messages of one source; without hashes, `source` is not used.
    private mutating func readAhead(_ hashes: Slice<UnsafeMutableBufferPointer<UInt64>>, _ source: Int) {
        if hashes.isEmpty { return }
        let hashes = UnsafeBufferPointer(rebasing: hashes)
        lastRead = logState.sources[source].parts.messages.store.readAhead(hashes)
    }

    /// Lends the state to an observer.
    mutating func withLogState<Result>(_ body: (inout LogState) throws -> Result) rethrows -> Result {
        try body(&logState)
    }

    /// Finds the source of a lane at its first plain frame; the source is added to the state if it is new.
    @inline(never)
    private mutating func add(_ number: Int, _ lanes: [ReplayLanes.Lane?]) {
        assert(lanes[number] != nil, "a lane is known before its frames are folded")
        while sources.count <= number { sources.append(nil) }
        if let lane = lanes[number] { sources[number] = logState.sourceIndex(of: lane.source) }
    }
}
