import Clients
import EventLog
import Projections
import Reduction

/// Prints the result of a search and the commands to type next.
struct ShrinkPrinter {
    let output: StandardOutput
    let path: String
    let profile: Profile
    let isJSON: Bool

    /// The most events listed as text.
    private static let eventsMax = 20

    /// Prints the result and flushes. Events come with their sequence in the log that was shrunk, so that they can be
    /// found there.
    func print(_ result: ShrinkResult) throws {
        if isJSON {
            try output.line(Self.document(result).text)
        } else {
            try output.line(output.style.text(headline(result), .heading))
            for event in result.kept.prefix(Self.eventsMax) {
                try output.line("  " + DisplayText.escaped(line(event)))
            }
            let more = result.kept.count - Self.eventsMax
            if more > 0 { try output.line("  … \(counted(more, "more event"))") }
            for line in Self.replacements(result) { try output.line(DisplayText.escaped(line)) }
            try output.line()
            try output.line("next:")
            for command in next { try output.line("  " + DisplayText.escaped(command)) }
        }
        try output.flush()
    }

    private static func document(_ result: ShrinkResult) -> JSONValue {
        .object([
            "events": .int(result.kept.count),
            "of": .int(result.wholeCount),
            "tests": .int(result.testCount),
            "minimal": .bool(result.isMinimal),
            "kept": result.anonymized.map(KeptPrinter.document),
            "when": when(result),
        ])
    }

    /// The renamed expression; `nil` for commands and comparisons of readings.
    private static func when(_ result: ShrinkResult) -> JSONValue? {
        guard case .expression(let expression) = result.askedThen?.question else { return nil }
        return .string(expression.description)
    }

    private static func replacements(_ result: ShrinkResult) -> [String] {
        guard let anonymized = result.anonymized else { return [] }
        let kept = TextClass.allCases.filter(anonymized.kept.contains).map(\.rawValue)
        let rest = kept.isEmpty ? "" : "; \(kept.joined(separator: ", ")) stay, because the answer depends on them"
        let test = when(result)?.string.map { ["the test is now: --when '\($0)'"] } ?? []
        return ["anonymized\(rest)"] + test + KeptPrinter.lines(anonymized)
    }

    private func headline(_ result: ShrinkResult) -> String {
        let count =
            "\(counted(result.kept.count, "event")) of \(result.wholeCount), \(counted(result.testCount, "test")): "
        let rest = result.isMinimal ? "none of them can go" : "not minimal, because the time is over"
        return count + rest
    }

    private func line(_ event: CandidateEvent) -> String {
        let draft = event.draft
        let title = draft.payload.withUnsafeBytes { FrameTitle.title(of: draft.kind, payload: $0) }
        return "\(event.origin)  \(TimeText.full(draft.recordedAt))  \(draft.source)  \(title ?? draft.kind.rawValue)"
    }

    private var next: [String] {
        let reading = profile == .canonical ? "" : " --profile \(profile.rawValue)"
        return ["logtool replay \(path)\(reading)", "logtool freeze \(path) -o Fixtures/NAME\(reading)"]
    }
}
