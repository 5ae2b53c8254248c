import EventLog
import Joining
import Synchronization

/// Several logs that a command reads as one: those of a folder, or those named with `+` between them.
///
/// The joined log of a folder is kept in the folder, where it can be written to; any other one goes when the program ends.
enum JoinedLogs {
    private static let made = Mutex<[String: JoinedLog]>([:])

    /// The log that several ones give together; `nil` if the path names one log, or nothing.
    ///
    /// Unless `isQuiet`, a notice on standard error names the logs, and how to find where an event comes from.
    ///
    /// - Parameters:
    ///   - scratch: makes a folder for a joined log that is not kept.
    ///   - replaced: gives the log that is joined in place of one that was opened; `nil` for the same one, and then the joined log may be kept.
    /// - Throws: as `LogJoin.run`.
    static func open(
        _ path: String,
        isQuiet: Bool,
        scratch: () throws -> String,
        replaced: ((EventStore) throws -> EventStore)? = nil
    ) throws -> JoinedLog? {
        let paths = paths(at: path)
        if paths.isEmpty { return nil }
        if let joined = made.withLock({ $0[path] }) { return joined }
        let inputs = try paths.map { name, path in
            let options = EventStore.Options.withProgress(isQuiet: isQuiet)
            guard let replaced else {
                return LogJoin.Input(name: name) { try EventStore.open(at: path, options: options) }
            }
            let store = try replaced(EventStore.open(at: path, options: options))
            return LogJoin.Input(name: name) { store }
        }
        let kept = replaced == nil && LogFolder.logs(at: path).count > 0 ? keptFolder(in: path) : nil
        let progress = Progress("joining \(counted(inputs.count, "log"))", isQuiet: isQuiet)
        defer { progress.end() }
        let joined = try LogJoin(of: inputs).run(in: kept ?? scratch()) { done, total in
            progress.report("joined \(done) of \(total)", done: Int(clamping: done), total: Int(clamping: total))
        }
        progress.end()
        made.withLock { $0[path] = joined }
        if !isQuiet { StandardError.line("logtool: " + DisplayText.escaped(notice(joined, at: path))) }
        return joined
    }

    /// The names and paths of the logs that a path names together; none if it names one log, or nothing.
    private static func paths(at path: String) -> [(name: String, path: String)] {
        let names = LogFolder.logs(at: path)
        if !names.isEmpty { return names.map { ($0, LogFolder.path(of: $0, in: path)) } }
        guard Directory.resolved(path) == nil, path.contains("+") else { return [] }
        return path.split(separator: "+", omittingEmptySubsequences: false).map { (String($0), String($0)) }
    }

    /// The folder that keeps the joined log; `nil` if it cannot be made.
    private static func keptFolder(in path: String) -> String? {
        guard let folder = try? Folder(at: path).folderMadeIfMissing(LogJoin.folderName),
            (try? folder.fileMadeIfMissing("lock")) != nil
        else { return nil }
        return folder.path
    }

    /// The joined log that this program has made and that a store belongs to; `nil` for any other store.
    static func joined(_ store: EventStore) -> JoinedLog? {
        made.withLock { $0.values.first { $0.store.identity == store.identity } }
    }

    /// Whether a log that this program has joined has an identity.
    static func isJoined(_ identity: [UInt8]) -> Bool {
        made.withLock { $0.values.contains { $0.store.identity == identity } }
    }

    /// Removes the joined log that is kept beside a log, which may have texts that the log has no more.
    static func removeKept(besideLogAt path: String) {
        for path in Set([path, Directory.resolved(path) ?? path]) {
            let parent = Directory.split(path).parent
            guard let folder = try? Folder(at: parent).folder(LogJoin.folderName) else { continue }
            (try? JoinFolder(at: folder.path))?.removeAll()
        }
    }

    /// Refuses proofs: the root of a joined log is known to nobody.
    static func refuseProof(of store: EventStore) throws {
        guard joined(store) != nil else { return }
        throw Failure(
            "prove in several logs: each proof is under the root of one log; name that log alone, which events tells"
        )
    }

    // MARK: - Notice

    private static let namesMax = 5

    private static func notice(_ joined: JoinedLog, at path: String) -> String {
        let names = joined.members.prefix(namesMax).map(\.name).joined(separator: ", ")
        let others = joined.members.count > namesMax ? " and \(joined.members.count - namesMax) more" : ""
        let (duplicates, redacted) = joined.members.reduce((0, 0)) { ($0.0 + $1.duplicates, $0.1 + $1.redacted) }
        let left =
            duplicates > 0 ? "; left out what a log before has: \(counted(Int(clamping: duplicates), "event"))" : ""
        let replaced = redacted > 0 ? "; redacted: \(counted(Int(clamping: redacted), "event"))" : ""
        return
            "\(counted(joined.members.count, "log")) as one, by clock, then by name (\(names)\(others))\(left)\(replaced); "
            + "logtool events \(ShellWord.quoted(path)) --from SEQ --to SEQ tells an event's own log"
    }
}
