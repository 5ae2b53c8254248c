import EventLog
import Foundation

/// What the processes do that a test kills or stops: they use one log until then, and say on standard error how far they
/// are.
///
/// A program of its own, since a test bundle takes as long to start as a thousand commits.
@main
struct LogWorker {
    /// Events in a batch. A log that only workers write has a multiple of it at any moment.
    static let batchSize = 3

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let work = arguments.first, let path = arguments.dropFirst().first else { return }
        let store = try EventStore.open(at: path)
        switch work {
        case "append": try appendWithoutEnd(store, name: arguments.last ?? "")
        case "read": try readWithoutEnd(store)
        case "stop": try readWithAStop(store)
        default: break
        }
    }

    /// Appends batches and says each one's first sequence.
    private static func appendWithoutEnd(_ store: EventStore, name: String) throws {
        for batch in 0..<100_000 {
            let drafts = try (0..<batchSize).map { try draft(batch, key: "\(name)/\(batch)/\($0)") }
            let result = try store.append(drafts)
            say("ACK \(result.first?.rawValue ?? 0)")
        }
    }

    private static func draft(_ number: Int, key: String) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(seconds: Int64(number)),
            source: try SourceName("test"),
            kind: try EventKind("gateway.frame/1"),
            key: try EventKey(key),
            payload: Array("payload \(number)".utf8)
        )
    }

    /// Reads the whole log again and again; goes on as long as what is seen is whole batches without a hole.
    private static func readWithoutEnd(_ store: EventStore) throws {
        for _ in 0..<100_000 {
            let (head, seen) = try store.read { session in
                var seen: UInt64 = 0
                guard session.head > .zero else { return (session.head.rawValue, seen) }
                try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                    seen += event.sequence.rawValue == seen + 1 ? 1 : 0
                    return true
                }
                return (session.head.rawValue, seen)
            }
            guard seen == head, head.isMultiple(of: UInt64(batchSize)) else { return say("TORN \(head)") }
            say("ACK \(head)")
        }
    }

    /// Stops itself within a read session, and reads on once it is continued.
    private static func readWithAStop(_ store: EventStore) throws {
        let count = try store.read { session in
            raise(SIGSTOP)
            var count = 0
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { _ in
                count += 1
                return true
            }
            return count
        }
        say("READ \(count)")
    }

    private static func say(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
