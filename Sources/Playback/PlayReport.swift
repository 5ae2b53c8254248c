#if Recorders
public import EventLog
package import Projections
import Synchronization

/// The progress of a playback: its position, what it gave, and where the client departed from the recording.
///
/// The mutex guards all of it. The playing task writes, and routes on event loops read and count.
public final class PlayReport: Sendable {
    /// A place where the client departed from the recording, and how often it did so.
    public struct Divergence: Hashable, Sendable {
        /// The position when the client departed first.
        public let sequence: SequenceNumber
        /// What the recording has at that position.
        public let recorded: String
        /// What the client did instead.
        public let client: String
        /// How often it did so.
        public internal(set) var count = 1
    }

    /// The origin of an answer.
    enum Origin {
        case recorded, state, nowhere
    }

    /// One reading of everything. Values that are read together must come from one reading.
    public struct Contents: Sendable {
        /// The last event that was given or passed; never falls.
        public internal(set) var sequence = SequenceNumber.zero
        /// True once every event up to `end` was given.
        public internal(set) var isDone = false
        /// The client's user id from READY; "0" if none was seen.
        public internal(set) var user = "0"
        /// True while a client is connected.
        public internal(set) var isConnected = false
        /// Events given; frames that playback added do not count, events given again after a rewind do.
        public internal(set) var given = 0
        /// Recorded connections that were begun with a client.
        public internal(set) var connections = 0
        /// Events in place of frames that were too large to be recorded.
        public internal(set) var lost = 0
        /// Requests that got a recorded answer.
        public internal(set) var recordedAnswers = 0
        /// Requests that were answered from the state.
        public internal(set) var stateAnswers = 0
        /// Requests without an answer.
        public internal(set) var missingAnswers = 0
        /// Where the client departed from the recording, in order; at most 1,000.
        public internal(set) var divergences: [Divergence] = []
        /// Divergences beyond 1,000, which are only counted.
        public internal(set) var unlisted = 0
    }

    /// The last event that may be given.
    package let end: SequenceNumber
    private let contents = Mutex(Contents())
    /// Bounds memory and the report for a client that departs all the time.
    private static let divergenceCountMax = 1_000

    init(end: SequenceNumber) {
        self.end = end
    }

    /// A copy of everything at one instant.
    public var now: Contents { contents.withLock { $0 } }

    /// The last event that was given or passed.
    var sequence: SequenceNumber { contents.withLock { $0.sequence } }

    func change(_ body: (inout Contents) -> Void) {
        contents.withLock { body(&$0) }
    }

    /// Notes a departure of the client at the current position. A repeat of one of the last eight is counted, not
    /// listed again: a client often repeats a few in turn.
    func note(recorded: String, client: String) {
        contents.withLock { contents in
            let near = contents.divergences.suffix(8)
            let place = near.lastIndex { $0.recorded == recorded && $0.client == client }
            if let place {
                // A suffix shares its indices with the whole array.
                contents.divergences[place].count += 1
            } else if contents.divergences.count < Self.divergenceCountMax {
                let place = contents.sequence
                contents.divergences.append(Divergence(sequence: place, recorded: recorded, client: client))
            } else {
                contents.unlisted += 1
            }
        }
    }

    /// Counts an answer to a request.
    func count(_ origin: Origin) {
        contents.withLock { contents in
            switch origin {
            case .recorded: contents.recordedAnswers += 1
            case .state: contents.stateAnswers += 1
            case .nowhere: contents.missingAnswers += 1
            }
        }
    }
}

extension PlayReport {
    /// The body of `/_play/position`. Sequences are texts, as in all JSON of this program.
    var position: JSONValue {
        let now = now
        return .object([
            "sequence": .string(now.sequence.description), "until": .string(end.description), "done": .bool(now.isDone),
            "connected": .bool(now.isConnected), "given": .int(now.given),
        ])
    }

    /// The report at the end, as JSON.
    package var document: JSONValue {
        let now = now
        let divergences = now.divergences.map { divergence -> JSONValue in
            .object([
                "sequence": .string(divergence.sequence.description), "recorded": .string(divergence.recorded),
                "client": .string(divergence.client), "count": .int(divergence.count),
            ])
        }
        return .object([
            "sequence": .string(now.sequence.description), "until": .string(end.description), "done": .bool(now.isDone),
            "given": .int(now.given), "connections": .int(now.connections), "lost": .int(now.lost),
            "answers": .object([
                "recorded": .int(now.recordedAnswers), "state": .int(now.stateAnswers),
                "missing": .int(now.missingAnswers),
            ]),
            "divergences": .array(divergences), "unlisted": .int(now.unlisted),
        ])
    }
}
#endif
