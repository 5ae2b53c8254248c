import EventLog
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A folder of one run's own among the system's temporary ones (`TMPDIR`), `logtool-scratch-N.partial-PID`.
///
/// What a killed run leaves is removed by the next one that makes such a folder.
struct ScratchFolder: ~Copyable {
    private static let count = Atomic(0)

    let path: String
    /// Holds the lock by which others know that it is in use.
    private let folder: Folder

    /// Makes one.
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
