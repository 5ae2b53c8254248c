import EventLog
import Kinds
import Projections
import Synchronization

/// The notice of sources whose payloads nothing reads: a state without them looks as if nothing had happened.
enum UnreadSources {
    /// The logs whose sources were told of.
    private static let told = Mutex<Set<String>>([])

    /// Tells of them on standard error, once for each log.
    static func tell(of session: borrowing ReadSession, at path: String) throws {
        guard told.withLock({ $0.insert(path).inserted }) else { return }
        let decoders = try Decoders(inForce: session)
        for (source, kinds) in try session.kindsBySource().sorted(by: { $0.key < $1.key }) {
            // Where the file cannot be read, each event is an issue.
            guard decoders.rules(of: source) == nil, decoders.fault(of: source) == nil else { continue }
            let readsStreams = decoders[source]?.app?.readsStreams ?? true
            let unread = kinds.filter { EventFamily(kind: $0) == .generic || !readsStreams && $0.is(.serverSentEvent) }
                .map(\.rawValue).sorted()
            if unread.isEmpty { continue }
            // The file belongs into one of several logs.
            let log = try JoinedLogs.isJoined(session.identity()) ? "LOG" : path
            StandardError.line(
                DisplayText.escaped(
                    "logtool: no decoder file reads source \(source) (\(unread.joined(separator: ", "))): it gives no state; propose "
                        + "one: logtool decoder infer \(log) --source \(source) -o FILE, then: logtool decoder \(log) set \(source) FILE"
                )
            )
        }
    }
}
