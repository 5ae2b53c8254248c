import EventLog
import Projections
import Reduction

/// Prints how observations of clients differ from states.
struct ObservedPrinter {
    let output: StandardOutput
    let log: String
    let form: ListForm

    /// Prints the differences of one observation. The caller flushes.
    func print(_ observation: SequenceNumber, at point: SequenceNumber, _ differences: [ObservedDifference]) throws {
        switch form {
        case .document: try output.line(document(observation, point, differences).lines)
        case .lines: for difference in differences { try output.line(difference.json.text) }
        case .text:
            try output.line(heading(observation, point, differences))
            for difference in differences { try output.line("  \(line(difference))") }
        }
    }

    /// Prints the first observation that differs, and the event responsible. The caller flushes.
    ///
    /// - Parameter event: the event responsible, with its payload; `nil` if none names the row.
    func print(_ finding: ObservedFinding, event: (envelope: Envelope, payload: [UInt8])?) throws {
        guard form == .text else {
            guard case .object(var object) = document(finding.observation, finding.point, finding.differences) else {
                return
            }
            object["first"] = finding.event.map { .string($0.description) }
            object["agreed"] = finding.agreed.map { .string($0.description) }
            object["observations"] = .int(finding.compared)
            if let event {
                var member = EventJSON.object(for: event.envelope)
                event.payload.withUnsafeBytes { EventJSON.add($0, to: &member) }
                object["event"] = .object(member)
            }
            return try output.line(JSONValue.object(object).text)
        }
        if let event {
            let envelope = event.envelope
            try output.line(output.style.text("first: event \(envelope.sequence)", .heading))
            let place = "\(TimeText.full(envelope.recordedAt))  \(envelope.source)  \(envelope.kind)"
            try output.line("\(DisplayText.escaped(place))  (compared \(counted(finding.compared, "observation")))")
            try output.line()
            for line in BisectionPrinter.decoded(event.payload) { try output.line("  " + DisplayText.escaped(line)) }
            try output.line()
        }
        try print(finding.observation, at: finding.point, finding.differences)
        if event == nil { try output.line("no event up to there names it") }
        try output.line()
        try output.line("next:")
        let log = ShellWord.quoted(self.log)
        try output.line("  logtool diff \(log) --observed \(finding.observation)")
        if let entity = finding.differences.first?.entity {
            try output.line(DisplayText.escaped("  logtool history \(log) \(ShellWord.quoted("\(entity)"))"))
        }
        try output.line("  logtool shrink \(log) --observed -o small.eventlog")
    }

    private func heading(
        _ observation: SequenceNumber,
        _ point: SequenceNumber,
        _ differences: [ObservedDifference]
    ) -> String {
        differences.isEmpty
            ? "observation \(observation) agrees with the state at \(point)"
            : "observation \(observation) differs from the state at \(point):"
    }

    private func line(_ difference: ObservedDifference) -> String {
        DisplayText.escaped("\(difference.entity)  \(difference.reason)")
    }

    private func document(
        _ observation: SequenceNumber,
        _ point: SequenceNumber,
        _ differences: [ObservedDifference]
    ) -> JSONValue {
        .object([
            "observation": .string(observation.description), "at": .string(point.description),
            "differences": .array(differences.map(\.json)),
        ])
    }
}
