import EventLog
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A temporary folder for one run below `TMPDIR`, `logtool-scratch-N.partial-PID`. It is removed with this value, which
/// therefore cannot be copied.
///
/// Folders of killed runs are removed when the next one is made: their locks are free.
///
/// Readable by its owner alone, because it holds what logs and caches hold.
struct ScratchFolder: ~Copyable {
    /// Tells the folders of one process apart; any thread may make one.
    private static let count = Atomic(0)

    let path: String
    /// Holds the lock that marks the folder as in use.
    private let folder: Folder

    /// Makes the folder.
    ///
    /// - Throws: `Failure` that names `TMPDIR` if no folder can be made there.
    init() throws {
        let parent = FileManager.default.temporaryDirectory.path
        let number = Self.count.add(1, ordering: .relaxed).oldValue
        do {
            folder = try Partial.makeFolder(for: "logtool-scratch-\(number)", in: Folder(at: parent))
        } catch let error as EventLogError {
            throw Failure("make a folder in \"\(parent)\": \(error.reason); set TMPDIR to where one can be made")
        }
        path = folder.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
