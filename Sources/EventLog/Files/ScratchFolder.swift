import Synchronization

/// A temporary folder for one run, `logtool-scratch-N.partial-PID`. It is removed with this value, which therefore cannot be
/// copied.
///
/// Folders of killed runs are removed when the next one is made: their locks are free.
///
/// Readable by its owner alone, because it holds what logs and caches hold.
package struct ScratchFolder: ~Copyable {
    /// Tells the folders of one process apart; any thread may make one.
    private static let count = Atomic(0)
    /// More levels than a log or a cache has.
    private static let depth = 8

    package let path: String
    private let parent: Folder
    /// Holds the lock that marks the folder as in use.
    private let folder: Folder

    /// Makes the folder.
    ///
    /// - Parameter parent: The folder for temporary files, which `TMPDIR` names.
    /// - Throws: `EventLogError` with code `io` that names `TMPDIR` if no folder can be made there.
    package init(in parent: String) throws {
        (self.parent, folder) = try Self.make(in: parent)
        path = folder.path
    }

    private static func make(in path: String) throws -> (parent: Folder, folder: Folder) {
        let number = count.add(1, ordering: .relaxed).oldValue
        do {
            let parent = try Folder(at: path)
            return (parent, try Partial.makeFolder(for: "logtool-scratch-\(number)", in: parent))
        } catch let error as EventLogError {
            throw EventLogError(
                .io,
                operation: "make a folder in",
                object: path,
                reason: error.reason,
                advice: "set TMPDIR to where one can be made"
            )
        }
    }

    deinit {
        try? parent.removeFolder(Directory.split(path).name, depth: Self.depth)
    }
}
