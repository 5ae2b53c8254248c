import EventLog
import Projections

/// Prints what a log means: for each event the digest of the state after it, at last the state document.
///
/// A program of its own, so that two builds of it can be compared without building everything twice.
@main
struct StateTrace {
    static func main() throws {
        let paths = CommandLine.arguments.dropFirst()
        for path in paths {
            try EventStore.open(at: path).read { session in
                var state = try Replay.logState(of: session) { event, state in
                    print(event.sequence, state.digest())
                    return true
                }
                print(state.document().canonicalText)
            }
        }
    }
}
