#if Recorders
import EventLog
import Projections
import Synchronization

/// The progress of a playback: its position, what it gave, and where the client departed from the recording.
///
/// The mutex guards all of it. The playing task writes, and routes on event loops read and count.
final class PlayReport: Sendable {
    /// A place where the client departed from the recording, and how often it did so.
    struct Divergence: Hashable, Sendable {
        /// The position when the client departed first.
        let sequence: SequenceNumber
        let recorded: String
        let client: String
        var count = 1
    }

    /// The origin of an answer.
    enum Origin {
        case recorded, state, nowhere
    }

    /// One reading of everything. Values that are read together must come from one reading.
    struct Contents: Sendable {
        /// The last event that was given or passed; never falls.
        var sequence = SequenceNumber.zero
        /// True once every event up to `end` was given.
        var isDone = false
        /// The client's user id from READY; "0" if none was seen.
        var user = "0"
        var isConnected = false
        /// Events given; frames that playback added do not count, events given again after a rewind do.
        var given = 0
        /// Recorded connections that were begun with a client.
        var connections = 0
        /// Events in place of frames that were too large to be recorded.
        var lost = 0
        var recordedAnswers = 0
        var stateAnswers = 0
        var missingAnswers = 0
        var divergences: [Divergence] = []
        /// Divergences beyond `divergenceCountMax`, which are only counted.
        var unlisted = 0
    }

    /// The last event that may be given.
    let end: SequenceNumber
    private let contents = Mutex(Contents())
    /// Bounds memory and the report for a client that departs all the time.
    private static let divergenceCountMax = 1_000

    init(end: SequenceNumber) {
        self.end = end
    }

    /// A copy of everything at one instant.
    var now: Contents { contents.withLock { $0 } }

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
    var document: JSONValue {
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

    /// The report at the end, as lines of text.
    var lines: [String] {
        let now = now
        var lines = ["gave \(now.given) events, up to \(now.sequence) of \(end)"]
        if now.connections > 0 { lines.append("connections: \(now.connections)") }
        let answers = [
            (now.recordedAnswers, "recorded"), (now.stateAnswers, "from the state"), (now.missingAnswers, "missing"),
        ]
        let counts = answers.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !counts.isEmpty { lines.append("answers: \(counts.joined(separator: ", "))") }
        if now.lost > 0 { lines.append("\(now.lost) frames were too large to be recorded and are left out") }
        guard !now.divergences.isEmpty else { return lines }
        lines.append("the client did otherwise than the recording:")
        for divergence in now.divergences {
            let times = divergence.count > 1 ? " (\(divergence.count) times)" : ""
            lines.append(
                "  after \(divergence.sequence): recorded: \(divergence.recorded); client: \(divergence.client)\(times)"
            )
        }
        if now.unlisted > 0 { lines.append("  and \(now.unlisted) more") }
        return lines
    }
}
#endif
