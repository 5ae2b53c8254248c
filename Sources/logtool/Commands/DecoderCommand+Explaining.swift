import EventLog
import JSON
import Projections

/// `logtool decoder explain`.
extension DecoderCommand {
    /// Says what a decoder file makes of one event, and of which members.
    ///
    /// Cost: reads the events of the source before it, since they decide what is a repeat.
    ///
    /// - Throws: `Failure` with exit code 1 if the log has no such event, or its source no file.
    func explain(_ log: String, _ sequence: SequenceNumber) throws {
        let store = try LogOptions.open(log, isQuiet: output.quiet)
        let outcome = try store.read { session -> (RecordedEvent, DecoderFile, DecoderTrial.Outcome) in
            guard let event = try session.event(at: sequence) else {
                throw Failure("explain the event at \(sequence): the log holds no such event", exitCode: Outcome.no)
            }
            guard let file = try Decoders(inForce: session).rules(of: event.envelope.source) else {
                throw Failure(
                    "explain the event at \(sequence): source \(event.envelope.source) has no decoder file with rules; set one with: logtool "
                        + "decoder \(log) set \(event.envelope.source) FILE",
                    exitCode: Outcome.no
                )
            }
            var trial = DecoderTrial(file, source: event.envelope.source, traces: true)
            var outcome: DecoderTrial.Outcome?
            // What came before decides what is a repeat.
            try session.forEachEvent(in: SequenceNumber(1)...sequence) { earlier in
                guard earlier.source == event.envelope.source else { return true }
                let envelope = earlier.envelope
                outcome = earlier.withPayload { trial.read(envelope, payload: $0) }
                return true
            }
            guard let outcome else { throw Failure("explain the event at \(sequence): it cannot be read") }
            return (event, file, outcome)
        }
        let (event, file, read) = outcome
        let output = output.standardOutput
        let changes = read.decoded.changes.map(\.json)
        if document.json {
            try output.line(
                JSONValue.object([
                    "sequence": .int(sequence.rawValue), "decoder": .string(file.name),
                    "line": read.line.map { .int($0) },
                    "repeat": .bool(read.isRepeat), "changes": .array(changes),
                    "reads": .array(read.reads.map(Self.json)),
                    "issues": .array(read.decoded.issues.map { .string($0) }),
                ])
                .lines
            )
        } else {
            let states =
                changes.isEmpty && read.reads.isEmpty && read.decoded.issues.isEmpty ? " and states nothing" : ""
            let rule =
                read.line.map { "the rule on line \($0) took it\(states)" }
                ?? (read.isRepeat ? "a repeat" : "no rule took it")
            try output.line("\(sequence)  \(event.envelope.kind)  \(file.name): \(rule)")
            for change in changes { try output.line("  \(DisplayText.escaped(change.canonicalText))") }
            try print(read.reads, to: output)
            for issue in read.decoded.issues { try output.line("  issue: \(DisplayText.escaped(issue))") }
        }
        try output.flush()
    }

    private static func json(_ read: DecoderRead) -> JSONValue {
        .object([
            "line": .int(read.line), "effect": .string(read.effect), "member": .string(read.member),
            "from": .string(read.source), "value": read.value,
        ])
    }

    /// What each effect took from where. What was not there is left out.
    private func print(_ reads: [DecoderRead], to output: StandardOutput) throws {
        var last: (Int, String)?
        for read in reads {
            guard let value = read.value else { continue }
            if last.map({ $0 != (read.line, read.effect) }) ?? true {
                try output.line("  line \(read.line): \(DisplayText.escaped(read.effect))")
            }
            last = (read.line, read.effect)
            let shown = DisplayText.shortened(DisplayText.escaped(value.canonicalText))
            try output.line("    \(read.member) from \(DisplayText.escaped(read.source)): \(shown)")
        }
    }
}
