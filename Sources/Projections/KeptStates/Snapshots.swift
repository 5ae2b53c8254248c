import Dispatch
import EventLog
import Synchronization

/// Which kept states are a program's own, and when it keeps more.
public struct SnapshotOptions: Sendable {
    /// Tells one build of the program from another: states that another one kept are removed.
    public var build: String
    /// How many events lie between two kept states at least.
    public var eventsMin = 20_000
    /// How many times as many bytes of payloads must be folded for the next state as the last one took for messages that
    /// are records, and for all that is written anew each time.
    var bytesFactors = (records: 3, rest: 10)
    /// How many bytes may have to be decoded, for each hundred of the payloads, to begin from a state: of messages that are
    /// records, and of all that is no message. To decode one takes twice and a half as long as one of a payload, so that
    /// loading takes at most 0.3 of folding anew. `nil` for any number.
    var decodedPercentMax: Int? = 12
    /// How many events are looked at anew each time, at most, before the index of channels takes them in.
    public var channelEventsMin = 4096

    /// Options of a program; any change of it needs another text.
    public init(build: String) {
        self.build = build
    }
}

/// States kept beside a log, from which a replay begins instead of the first event.
///
/// A state is kept when the payloads folded since the last one are as many bytes as that took for packed messages, three
/// times as many as it took for other messages, and ten times as many as for all else, which is written anew each time. So
/// all states together are about a quarter of a log of plain frames. A state that takes longer to load than its events take
/// to fold is not kept: that is the rule with commits and lists, whose state is as large as what it was made of. States are
/// disposable: without them a replay gives the same.
struct Snapshots {
    private let options: SnapshotOptions
    private let states: KeptStates
    /// Only a state of all events is worth keeping.
    private let keeps: Bool
    private let firstLeftOut: SequenceNumber
    /// The one that the replay began from or has kept last: what is kept next is based on it.
    private var last: KeptStates.Kept?
    private var foldedBytes = 0
    /// The payloads that the state under way comes of.
    private var payloadBytes = 0
    /// What is no message in the state that was encoded last, and the payloads which that came of.
    private var rest = (bytes: 0, payloadBytes: 0)
    private let writer = BackgroundWriter()

    /// - Parameters:
    ///   - keeps: whether the replay reads all events, so that its states are worth keeping.
    ///   - firstLeftOut: the first event that the replay leaves out; of earlier states alone it can begin.
    init(_ options: SnapshotOptions, rules: ReadingRules, keeps: Bool, before firstLeftOut: SequenceNumber) {
        self.options = options
        states = KeptStates(rules: rules, build: options.build)
        (self.keeps, self.firstLeftOut) = (keeps, firstLeftOut)
    }

    /// The newest state kept at or before a point, and before every event that is left out.
    mutating func nearest(through point: SequenceNumber, in session: borrowing ReadSession) -> Workspace? {
        for sequence in sequences(through: point, in: session).reversed() {
            if let (state, kept) = states.state(at: sequence, in: session) {
                last = kept
                (payloadBytes, rest) = (kept.payloadBytes, (kept.byteCounts.rest, kept.payloadBytes))
                return state
            }
            states.remove(sequence, in: session)
        }
        return nil
    }

    /// The sequences of the states that `nearest` would try, ascending.
    func sequences(through point: SequenceNumber, in session: borrowing ReadSession) -> [SequenceNumber] {
        states.sequences(in: session).filter { $0 <= point && $0 < firstLeftOut }
    }

    /// Notes that payloads were folded up to a sequence; whether that state is to be kept.
    mutating func isDue(at sequence: SequenceNumber, folded bytes: Int) -> Bool {
        foldedBytes += bytes
        payloadBytes += bytes
        let isFar = sequence.rawValue - (last?.sequence.rawValue ?? 0) >= UInt64(options.eventsMin)
        guard keeps, isFar else { return false }
        guard let last else { return true }
        let counts = last.byteCounts
        let (records, rest) = options.bytesFactors
        return foldedBytes >= counts.packed + records * counts.records + rest * counts.rest
    }

    /// Keeps a state that is due, if there is room and permission. It is written while the replay goes on; once that has
    /// failed, no more are kept.
    mutating func keep(_ state: inout Workspace, in session: borrowing ReadSession) throws {
        foldedBytes = 0
        guard isWorthKeeping(state), writer.isDone(), let table = states.writableTable(in: session),
            !states.sequences(in: session).contains(state.sequence)
        else { return }
        let saving = try states.saving(of: state, base: last, payloadBytes: payloadBytes, in: session)
        rest = (saving.kept.byteCounts.rest, payloadBytes)
        guard isWorthKeeping(state) else { return }
        state.noteSaved()
        last = saving.kept
        writer.write { [states] in try states.write(saving, to: table) }
    }

    /// Whether a replay that begins from the state is much faster than one that folds its events, as far as the state tells
    /// before it is encoded.
    private func isWorthKeeping(_ state: Workspace) -> Bool {
        guard let percent = options.decodedPercentMax else { return true }
        // In KiB: what is no message is taken to have grown as the payloads did.
        let rest = (self.rest.bytes >> 10) * (payloadBytes >> 10) / max(1, self.rest.payloadBytes >> 10)
        let records = (state.messageRecordCount * Self.recordBytes) >> 10
        return records + rest <= (payloadBytes >> 10) * percent / 100
    }

    /// About so many bytes a message takes that is a record.
    private static let recordBytes = 280

    /// Waits until what was kept is written.
    func finish() {
        _ = writer.isDone()
    }
}

/// Writes on a thread of its own, one thing after another.
private final class BackgroundWriter: Sendable {
    private let queue = DispatchQueue(label: "eventlog.states")
    private let hasFailed = Mutex(false)

    func write(_ body: @escaping @Sendable () throws -> Void) {
        queue.async { [self] in
            do { try body() } catch { hasFailed.withLock { $0 = true } }
        }
    }

    /// Waits until nothing is under way; whether all was written.
    func isDone() -> Bool {
        queue.sync {}
        return hasFailed.withLock { !$0 }
    }
}
