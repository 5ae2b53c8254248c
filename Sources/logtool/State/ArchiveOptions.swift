import ArgumentParser
import EventLog
import Joining
import Projections
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Archives of compactions that a command reads a log with, as if nothing had been dropped. Nothing is written into the log.
struct ArchiveOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Read the log with what compactions dropped: their archives, from the newest one on.",
            valueName: "file"
        ),
        completion: .file()
    )
    var withArchive: [String] = []

    /// The log with what the archives bring back; the log itself if none are given.
    ///
    /// Cost: a copy of the log in the folder for temporary files, which goes when the program ends.
    ///
    /// - Parameter passesOthers: whether archives of other logs are passed over, for commands that read several.
    /// - Throws: as `Compaction.restoredCopy`.
    func reading(_ store: EventStore, passesOthers: Bool = false) throws -> EventStore {
        if withArchive.isEmpty { return store }
        let archives = try withArchive.map { try Archive(at: $0, for: "read archive") }
            .filter { !passesOthers || $0.header.identity == store.identity }
        if archives.isEmpty { return store }
        return try Compaction.restoredCopy(of: store, with: archives, in: ScratchFolders.make())
    }

    /// Opens a log, or several ones as one (`JoinedLogs`), with what the archives bring back.
    ///
    /// - Parameters:
    ///   - passesOthers: as in `reading`. Of several logs each takes its own archives.
    ///   - tellsOfPart: whether a notice names a log that is a part (`PartNotice`).
    /// - Throws: as `reading` and `JoinedLogs.open`; `EventLogError` with code `noLog` if there is none.
    func opened(
        _ path: String,
        isQuiet: Bool,
        passesOthers: Bool = false,
        tellsOfPart: Bool = true
    ) throws -> EventStore {
        var known: Set<[UInt8]> = []
        let replaced = { (store: EventStore) in
            known.insert(store.identity)
            return try reading(store, passesOthers: true)
        }
        let joined = try JoinedLogs.open(
            path,
            isQuiet: isQuiet,
            scratch: ScratchFolders.make,
            replaced: withArchive.isEmpty ? nil : replaced
        )
        guard let joined else {
            let store =
                try tellsOfPart
                ? LogOptions.open(path, isQuiet: isQuiet)
                : EventStore.open(at: path, options: .withProgress(isQuiet: isQuiet))
            return try reading(store, passesOthers: passesOthers)
        }
        for file in withArchive where !passesOthers && !known.isEmpty {
            guard try !known.contains(Archive(at: file, for: "read archive").header.identity) else { continue }
            throw Failure("read archive \"\(file)\": it is of none of the logs of \"\(path)\"; leave it out")
        }
        return joined.store
    }
}

/// Temporary folders that are needed until the program ends.
enum ScratchFolders {
    /// A folder that is removed with this object.
    private final class Holder: Sendable {
        let folder: ScratchFolder

        init(_ folder: consuming ScratchFolder) { self.folder = folder }
    }

    private static let made = Mutex<[Holder]>([])

    /// Makes one, and returns its path.
    static func make() throws -> String {
        let holder = Holder(try ScratchFolder(in: FileManager.default.temporaryDirectory.path))
        made.withLock { $0.append(holder) }
        return holder.folder.path
    }

    /// Removes all of them. Logs in them must not be read any more.
    static func removeAll() { made.withLock { $0 = [] } }
}
