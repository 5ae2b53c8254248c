import EventLog

/// Which kept states are a program's own, and when it keeps more.
public struct SnapshotOptions: Sendable {
    /// Tells one build of the program from another: states that another one kept are removed.
    public var build: String
    /// How many events lie between two kept states at least.
    public var eventsMin = 20_000
    /// How many events are looked at anew each time, at most, before the index of channels takes them in.
    public var channelEventsMin = 4096

    /// Options of a program; any change of it needs another text.
    public init(build: String) {
        self.build = build
    }
}

/// States kept beside a log, from which a replay begins instead of the first event.
///
/// A state is kept when the payloads folded since the last one are five times as many bytes as that was; so all states
/// together are at most a fifth of the log. They are disposable: without them a replay gives the same.
struct Snapshots {
    private static let bytesFactor = 5
    private let options: SnapshotOptions
    private let states: KeptStates
    /// Only a state of all events is worth keeping.
    private let keeps: Bool
    private let firstLeftOut: SequenceNumber
    private var lastSize = 0
    private var last = SequenceNumber.zero
    private var foldedBytes = 0

    /// `nil` where none are wanted.
    init?(_ replay: ReplayOptions) {
        guard let options = replay.snapshots else { return nil }
        self.options = options
        states = KeptStates(rules: replay.rules, build: options.build)
        keeps = replay.sources == nil && replay.without.isEmpty
        firstLeftOut = replay.without.min() ?? SequenceNumber(.max)
    }

    /// The newest state kept at or before a point, and before every event that is left out.
    mutating func nearest(through point: SequenceNumber, in session: borrowing ReadSession) -> Workspace? {
        let sequences = states.sequences(in: session).filter { $0 <= point && $0 < firstLeftOut }
        for sequence in sequences.reversed() {
            if let (state, byteCount) = states.state(at: sequence, in: session) {
                last = sequence
                lastSize = byteCount
                return state
            }
            states.remove(sequence, in: session)
        }
        return nil
    }

    /// Notes that payloads were folded up to a sequence; whether that state is to be kept.
    mutating func isDue(at sequence: SequenceNumber, folded bytes: Int) -> Bool {
        foldedBytes += bytes
        let isFar = sequence.rawValue - last.rawValue >= UInt64(options.eventsMin)
        return keeps && isFar && foldedBytes >= Self.bytesFactor * lastSize
    }

    /// Keeps a state that is due.
    mutating func keep(_ state: Workspace, in session: borrowing ReadSession) throws {
        last = state.sequence
        foldedBytes = 0
        guard !states.sequences(in: session).contains(last) else { return }
        lastSize = try states.keep(state, in: session)
    }
}
