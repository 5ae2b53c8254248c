import EventLog
import Projections

/// The test that `bisect` and `shrink` apply to a state. `shrink` takes its parts and has rules of its own for exit
/// codes (`InterestTest`).
///
/// Both are functions of the state: an expression by construction, a command by agreement. `BisectCommand` tests an
/// answer twice to see that a command keeps it.
enum StateTest {
    /// A command that gets the document, or a part of it.
    case command(TestCommand, part: StatePartQuery)
    /// An expression; the state is bad if it holds.
    case expression(StateExpression)

    /// The answer for one state.
    ///
    /// - Throws: `Failure` if a command ends in a way that git's rules do not allow, or an expression has no answer.
    func verdict(_ state: LogState, options: DocumentOptions) throws -> Verdict {
        switch self {
        case .expression(let expression):
            do {
                return try expression.holds(in: state) ? .bad : .good
            } catch {
                throw Failure("answer \"\(expression)\" at sequence \(state.sequence): \(error)")
            }
        case .command(let command, let part):
            let ending = try command.run(on: part.bytes(of: state, options: options))
            return try Self.verdict(ending, of: command, at: state.sequence)
        }
    }

    /// The exit codes of `git bisect run`: 0 is good, 125 cannot decide, 1 to 127 are bad; anything else stops the
    /// search.
    private static func verdict(
        _ ending: TestCommand.Ending,
        of command: TestCommand,
        at sequence: SequenceNumber
    ) throws -> Verdict {
        switch ending {
        case .code(0): return .good
        case .code(125): return .skip
        case .code(1...127): return .bad
        case .code(let code):
            throw Failure(
                "run \"\(command.line)\" at sequence \(sequence): it ended with \(code); 0 means good, 125 cannot say, 1 to "
                    + "127 bad"
            )
        case .signal(let number):
            throw Failure(
                "run \"\(command.line)\" at sequence \(sequence): signal \(number) ended it; try it by hand: "
                    + "logtool replay LOG --at \(sequence) --json | \(command.line)"
            )
        case .timedOut:
            throw Failure(
                "run \"\(command.line)\" at sequence \(sequence): it took longer than \(command.timeout); give it longer with "
                    + "--timeout"
            )
        }
    }
}

/// The part of a state document that a command receives: at most one of the two is given.
struct StatePartQuery {
    var entity: EntityReference?
    var channel: EntityReference?

    /// The document with one member a line and a LF at the end, the same for the same state. Keys are in the document's
    /// order and numbers as written, so no serializer decides what a command sees.
    func bytes(of state: LogState, options: DocumentOptions) throws -> [UInt8] {
        // A document needs the digest, which the state notes in itself.
        var state = state
        let document: JSONValue
        if let entity {
            document = state.document(of: entity, options)
        } else if let channel {
            document = state.document(ofChannel: channel, options)
        } else {
            document = state.document(options)
        }
        return Array((document.lines + "\n").utf8)
    }
}

/// A bisection's test: of the state alone, or of a client that is served the log up to that state (`--play`).
///
/// With `--play` the command gets the document, too, and the address of the server in its environment.
struct BisectedTest {
    let test: StateTest
    #if Recorders
    private var trial: PlayTrial?
    #endif

    init(_ test: StateTest) {
        self.test = test
    }

    /// - Parameter form: What to serve as; `nil` to choose by the log's content.
    init(_ test: StateTest, playing store: EventStore, as form: PlayForm?) throws {
        self.test = test
        #if Recorders
        // The source is not an option: the log must have exactly one that fits.
        trial = try PlayTrial(store: store, form: form, source: nil)
        #else
        throw Failure.noRecorders("bisect --play")
        #endif
    }

    /// The answer for one state.
    func verdict(_ state: LogState, options: DocumentOptions) throws -> Verdict {
        #if Recorders
        if let trial, case .command(var command, let part) = test {
            return try trial.serving(through: state.sequence) { address in
                // The address changes with each point, because each server has its own port.
                command.variables = ["EVENTLOG_PLAY_URL": "http://\(address)"]
                return try StateTest.command(command, part: part).verdict(state, options: options)
            }
        }
        #endif
        return try test.verdict(state, options: options)
    }
}
