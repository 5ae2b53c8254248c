import EventLog
import Projections
import Reduction

/// Prints the result of a bisection: the event, its payload, its changes, and the commands to type next.
///
/// The commands below the answer can be copied into a shell as they are (`ShellWord`).
struct BisectionPrinter {
    let output: StandardOutput
    let log: String
    let isJSON: Bool

    /// Prints an outcome and flushes.
    ///
    /// - Parameter walk: The search's walk, which still holds the last good state, so that showing the changes folds
    ///   little.
    func print(_ outcome: Bisection.Outcome, tested: Int, walk: StateWalk) throws {
        switch outcome {
        case .first(let sequence): try printFirst(sequence, tested: tested, walk: walk)
        case .among(let sequences): try printCandidates(sequences, tested: tested)
        case .same(let verdict): try say(none("both ends are \(verdict.rawValue)"), tested: tested)
        case .reversed: try say(none("the good end is bad and the bad end good; negate the test"), tested: tested)
        case .unknownEnd(let point):
            try say(none("the test cannot say of the end at sequence \(point)"), tested: tested)
        }
        try output.flush()
    }

    private func none(_ reason: String) -> String { "nothing found: \(reason)" }

    /// Prints an outcome without an event, with the count of tests for programs.
    private func say(_ text: String, tested: Int) throws {
        guard isJSON else { return try output.line(text) }
        try output.line(JSONValue.object(["tested": .int(tested), "reason": .string(text)]).text)
    }

    /// Prints the events among which the first bad one is: the last good point excluded, the first bad one included.
    private func printCandidates(_ sequences: [SequenceNumber], tested: Int) throws {
        if isJSON {
            let candidates: [JSONValue] = sequences.map { .string($0.description) }
            return try output.line(JSONValue.object(["candidates": .array(candidates), "tested": .int(tested)]).text)
        }
        let (first, last) = (sequences[0], sequences[sequences.count - 1])
        try output.line("the first bad event is one of \(first) to \(last): the test cannot say of the states between")
    }

    /// Prints the answer by folding that one event again.
    private func printFirst(_ sequence: SequenceNumber, tested: Int, walk: StateWalk) throws {
        var printed = false
        try walk.step(at: sequence) { event, changes in
            printed = true
            try print(event, changes, tested: tested, store: walk.store)
        }
        // An act, or an event of another source: it changes nothing by itself.
        if !printed { try say("first: event \(sequence)", tested: tested) }
    }

    /// Prints the first bad event: payload, changes and the next commands.
    private func print(_ event: Envelope, _ changes: [StateDifference], tested: Int, store: EventStore) throws {
        let payload = try payload(of: event.sequence, in: store)
        if isJSON {
            var object = EventJSON.object(for: event)
            payload.withUnsafeBytes { EventJSON.add($0, to: &object) }
            object["changes"] = .array(changes.map { StateDiff.row(of: $0) })
            let document: JSONValue = .object([
                "first": .string(event.sequence.description), "tested": .int(tested), "event": .object(object),
            ])
            return try output.line(document.text)
        }
        try output.line(output.style.text("first: event \(event.sequence)", .heading))
        let place = "\(TimeText.full(event.recordedAt))  \(event.source)  \(event.kind)"
        try output.line("\(DisplayText.escaped(place))  (tested \(tested) states)")
        try output.line()
        for line in Self.decoded(payload) { try output.line("  " + DisplayText.escaped(line)) }
        try output.line()
        let printer = DifferencePrinter(output: output)
        for change in changes { try printer.print(change) }
        if changes.isEmpty { try output.line(output.style.text("it changed no row", .quiet)) }
        try output.line()
        try output.line("next:")
        for command in next(event.sequence, changes) { try output.line("  " + DisplayText.escaped(command)) }
    }

    /// The event's bytes, checked against its leaf hash (I7); empty for one that the log no longer holds.
    ///
    /// - Throws: `EventLogError` with code `damaged` (exit 3) if the event is not as it was appended.
    private func payload(of sequence: SequenceNumber, in store: EventStore) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try store.read { session in
            try session.forEachEvent(in: sequence...sequence) { event in
                try session.check(event)
                bytes = event.withPayload { Array($0) }
                return true
            }
        }
        return bytes
    }

    /// A payload as lines: JSON with one member a line, anything else unchanged; at most `linesMax`, then a count. The
    /// lines are not escaped.
    static func decoded(_ payload: [UInt8]) -> [String] {
        let text = (try? JSONValue.parse(payload)).map(\.indented) ?? String(decoding: payload, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count > linesMax else { return lines }
        return lines.prefix(linesMax) + ["… \(lines.count - linesMax) more lines"]
    }

    /// Enough to see what an event is; `logtool events --payload` prints all of it.
    private static let linesMax = 60

    /// The commands that show more: what the event changed, the history of the thing, and the state without the event.
    private func next(_ sequence: SequenceNumber, _ changes: [StateDifference]) -> [String] {
        let before = sequence.rawValue - 1
        let log = ShellWord.quoted(self.log)
        var commands = ["logtool diff \(log)@\(before) \(log)@\(sequence)"]
        if let entity = changes.first(where: { $0.entity.kind != .issue })?.entity {
            commands.append("logtool history \(log) \(ShellWord.quoted("\(entity)"))")
        }
        commands.append("logtool replay \(log) --without \(sequence)")
        return commands
    }
}

extension AnswerChanges {
    /// Prints the changes in the order of the log. The caller flushes.
    func print(to output: StandardOutput, asJSON: Bool) throws {
        if asJSON {
            let document: JSONValue = .object([
                "when": .string(expression.description),
                "start": .bool(start),
                "changes": .array(
                    changes.map {
                        .object(["holds": .bool($0.holds), "event": .object(EventJSON.object(for: $0.event))])
                    }
                ),
            ])
            return try output.line(document.lines)
        }
        for change in changes {
            let event = change.event
            let place = "\(event.sequence)  \(TimeText.full(event.recordedAt))  \(event.source)  \(event.kind)"
            let mark = change.holds ? "holds   " : "does not"
            try output.line("\(mark)  \(DisplayText.escaped(place))")
        }
        if changes.isEmpty {
            try output.line("the answer is \(start ? "yes" : "no") at every event")
        }
    }
}
