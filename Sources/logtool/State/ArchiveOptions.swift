import ArgumentParser
import EventLog
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
