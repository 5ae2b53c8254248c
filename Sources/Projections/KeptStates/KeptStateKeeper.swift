import Dispatch
import EventLog
import Synchronization

/// How a program keeps states and the index of channels beside a log.
public struct KeptStateOptions: Sendable {
    /// Identifies the program's build; states that another build kept are removed.
    public var build: String
    /// The fewest events between two kept states.
    public var eventsMin = 20_000
    /// Payload bytes to fold before the next state is kept, for each byte that the last one took: `records` for
    /// messages stored as records, `rest` for everything but messages, which is written anew each time.
    var bytesFactors = (records: 3, rest: 10)
    /// The most bytes to decode when a replay begins from a state, in percent of its payload bytes; `nil` for no limit.
    ///
    /// Messages stored as records and everything but messages must be decoded. Decoding a byte takes 2.5 times as long
    /// as folding one of a payload, so with 12 percent loading takes at most 0.3 of the time of folding anew.
    var decodedPercentMax: Int? = 12
    /// The fewest new events that the index of channels takes in; fewer are scanned again by each query.
    public var channelEventsMin = 4096
    /// Whether two points are compared by single channels only where that costs less than the whole states.
    var weighsChannels = true

    /// Makes the options of one build of a program.
    ///
    /// - Parameter build: A text that changes with every change of the program.
    public init(build: String) {
        self.build = build
    }

    /// The version of the tables of derived data that one build keeps.
    static func tableVersion(_ build: String) -> UInt32 {
        Hasher256.hash(Array(build.utf8)).bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The same for the log of a session, with the decoders that are registered for it; `nil` if nothing is kept, because a
    /// file stands in for the one in force.
    fileprivate static func tableVersion(_ build: String, _ session: borrowing ReadSession) -> UInt32? {
        let registered = RegisteredDecoders(of: session)
        guard registered.standIns.isEmpty else { return nil }
        let decoders = registered.fingerprint
        return tableVersion(decoders.isEmpty ? build : build + "\n" + decoders)
    }
}

extension ReadSession {
    /// The table in which one build of the program keeps data made from this log, made if it is missing.
    ///
    /// - Parameter makes: Whether the folder of derived data is made, too; if not, there is no table without it.
    /// - Returns: `nil` if there is nothing to keep data in, or nothing may be kept.
    /// - Throws: `EventLogError` with code `io` or `damaged`; the caller must then do without the table.
    func keptTable(_ name: String, build: String, makes: Bool) throws -> DerivedTable? {
        guard let version = KeptStateOptions.tableVersion(build, self) else { return nil }
        return try (makes ? derivedStore() : existingDerivedStore())?.table(name, version: version)
    }
}

/// States kept beside a log, from which a replay begins instead of the first event. Serves one replay, on its thread.
///
/// A state is due once the payload bytes folded since the last one reach what that one took: its packed messages once,
/// its other messages three times, everything else, which is written anew each time, ten times. So all states together
/// take about a quarter of a log of plain frames. A state that would be slow to load is not kept: this is the rule for
/// commits and lists, whose state is as large as its events. States are disposable (I19): without them a replay gives
/// the same.
struct KeptStateKeeper {
    private let options: KeptStateOptions
    private let states: KeptStates
    /// Whether new states are kept: only those that all events were folded into are worth it.
    private let keeps: Bool
    /// The first event that the replay leaves out; the greatest number if it leaves out none.
    private let firstLeftOut: SequenceNumber
    /// The base of the next state: the last one kept, else the one that the replay began from.
    private var last: KeptStates.Kept?
    /// Payload bytes folded since `keep` was last called, or since the beginning.
    private var foldedBytes = 0
    /// Payload bytes of all events folded into the current state, those behind a loaded one included.
    private var payloadBytes = 0
    /// The bytes of everything but messages in the state encoded last, and that state's payload bytes; 0 before the
    /// first.
    private var rest = (bytes: 0, payloadBytes: 0)
    /// The payload bytes of the last state that turned out too large while it was encoded, also in an earlier replay; 0 if
    /// none did.
    private var refusedBytes = 0
    private let writer = BackgroundWriter()

    /// - Parameters:
    ///   - keeps: whether the replay reads all events, so that its states are worth keeping.
    ///   - firstLeftOut: the first event that the replay leaves out; it can begin only from earlier states.
    init(_ options: KeptStateOptions, rules: ReadingRules, keeps: Bool, before firstLeftOut: SequenceNumber) {
        self.options = options
        states = KeptStates(rules: rules, build: options.build)
        (self.keeps, self.firstLeftOut) = (keeps, firstLeftOut)
    }

    /// The newest state kept at or before a point, and before every event that is left out; `nil` if none is readable.
    /// Removes those that it cannot read, so that they are not tried again.
    mutating func nearest(through point: SequenceNumber, in session: borrowing ReadSession) -> LogState? {
        refusedBytes = states.refusedPayloadBytes(in: session)
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

    /// Counts the bytes folded up to a sequence; true if the state there is due to be kept. Must be called for every
    /// stretch that was folded, or the sums are wrong.
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

    /// Keeps a state that is due, if it is worth it and the log's folder may be written to.
    ///
    /// Encodes the state here, as the replay changes it afterwards. Another thread writes it while the replay goes on.
    /// After a failed write, no more states are kept: the next one would lack its base.
    ///
    /// - Throws: if the log cannot be read or the state cannot be encoded.
    mutating func keep(_ state: inout LogState, in session: borrowing ReadSession) throws {
        foldedBytes = 0
        let restMax = restBytesMax(of: state)
        // A state that was too large is encoded again only once it is that of twice as many bytes.
        guard payloadBytes / 2 >= refusedBytes, restEstimate <= restMax, writer.isDone(),
            let table = states.writableTable(in: session),
            !states.sequences(in: session).contains(state.sequence)
        else { return }
        let saving: KeptStates.Saving
        do {
            saving = try states.saving(
                of: state,
                base: last,
                payloadBytes: payloadBytes,
                restBytesMax: restMax,
                in: session
            )
        } catch is StateEncoder.LimitExceeded {
            refusedBytes = payloadBytes
            writer.write { [states, payloadBytes] in
                try states.noteRefusal(payloadBytes: payloadBytes, in: table)
            }
            return
        }
        rest = (saving.kept.byteCounts.rest, payloadBytes)
        state.noteSaved()
        last = saving.kept
        writer.write { [states] in try states.write(saving, to: table) }
    }

    /// How many bytes everything but messages may take, so that loading the state is much faster than folding its
    /// events; negative if its messages alone take too many.
    private func restBytesMax(of state: LogState) -> Int {
        guard let percent = options.decodedPercentMax else { return .max }
        return payloadBytes / 100 * percent - state.messageRecordCount * Self.recordBytes
    }

    /// The bytes that everything but messages takes, if it has grown, since it was last encoded, as the payloads did; 0
    /// before the first time. Spares encoding a state that is too large.
    private var restEstimate: Int {
        let (bytes, growth) = (rest.bytes >> 10, payloadBytes >> 10)
        return bytes * growth / max(1, rest.payloadBytes >> 10) << 10
    }

    /// The approximate encoded size of a message stored as a record, in bytes.
    private static let recordBytes = 280

    /// Waits until all kept states are written.
    func finish() {
        _ = writer.isDone()
    }
}

/// Runs writes one after another on a serial queue. A failure is remembered for good.
private final class BackgroundWriter: Sendable {
    private let queue = DispatchQueue(label: "eventlog.states")
    private let hasFailed = Mutex(false)

    func write(_ body: @escaping @Sendable () throws -> Void) {
        queue.async { [self] in
            do { try body() } catch { hasFailed.withLock { $0 = true } }
        }
    }

    /// Waits for all writes; false if any has failed. So at most one state at a time waits to be written.
    func isDone() -> Bool {
        queue.sync {}
        return hasFailed.withLock { !$0 }
    }
}
