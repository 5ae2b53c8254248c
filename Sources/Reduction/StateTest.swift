import EventLog
package import Projections

/// The test that `bisect` and `shrink` apply to a state. `shrink` takes its parts and has rules of its own for exit
/// codes (`InterestTest`).
///
/// Both are functions of the state: an expression by construction, a command by agreement. `LogBisection` tests an
/// answer twice to see that a command keeps it.
package enum StateTest {
    /// A command that gets the document, or a part of it.
    case command(TestCommand, part: StatePartQuery)
    /// An expression; the state is bad if it holds.
    case expression(StateExpression)

    /// The answer for one state.
    ///
    /// - Throws: `EngineError` if a command ends in a way that git's rules do not allow, or an expression has no answer.
    package func verdict(_ state: LogState, options: DocumentOptions) throws -> Verdict {
        switch self {
        case .expression(let expression):
            do {
                return try expression.holds(in: state) ? .bad : .good
            } catch {
                throw EngineError("answer \"\(expression)\" at sequence \(state.sequence): \(error)")
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
            throw EngineError(
                "run \"\(command.line)\" at sequence \(sequence): it ended with \(code); 0 means good, 125 cannot say, 1 to "
                    + "127 bad"
            )
        case .signal(let number):
            throw EngineError(
                "run \"\(command.line)\" at sequence \(sequence): signal \(number) ended it; try it by hand: "
                    + "logtool replay LOG --at \(sequence) --json | \(command.line)"
            )
        case .timedOut:
            throw EngineError(
                "run \"\(command.line)\" at sequence \(sequence): it took longer than \(command.timeout); give it longer with "
                    + "--timeout"
            )
        }
    }
}

/// The part of a state document that a command receives: at most one of the two is given.
package struct StatePartQuery: Sendable {
    var entity: EntityReference?
    var channel: EntityReference?

    package init(entity: EntityReference? = nil, channel: EntityReference? = nil) {
        (self.entity, self.channel) = (entity, channel)
    }

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
