#if Recorders
import Playback

extension PlayReport {
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
