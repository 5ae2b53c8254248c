import EventLog
import Ingest
import Projections

extension StateLoader {
    /// The state at the head, and the gaps of the whole log with those of recorders that were killed: the log cannot tell
    /// of these, but the locks of the sources can.
    func gaps() throws -> (state: LogState, gaps: [(source: SourceName, gap: Gap)]) {
        // Before the log is read: a recorder that ends meanwhile says so in what is read.
        let names = try store.read { try KnownNames($0).kindsBySource.keys }
        let idle = names.filter { $0 != .logtool && !store.hasRecorder(of: $0) }
        let state = try logState(for: StateQuery(retained: true))
        let killed = Set(idle).intersection(state.connected)
        let signs = try store.read { session in
            var signs: [SourceName: Timestamp?] = [:]
            for source in killed {
                signs.updateValue(try RecorderStatus.lastSign(of: source, in: session), forKey: source)
            }
            return signs
        }
        return (state, state.gaps(lastSigns: signs))
    }
}
