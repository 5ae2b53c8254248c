import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A tree in a folder of this machine. A file appears at its path whole or not at all; links are not followed. For one thread.
final class TreeFolder {
    private let root: Folder
    /// The folder that was used last, by its path: files of one folder mostly follow one another.
    private var last: (path: [String], folder: Folder)?

    /// Opens a folder, and makes it if it is missing.
    init(at path: String) throws {
        let place = Directory.split(path)
        if Directory.resolved(path) == nil {
            _ = try Folder(at: place.parent).folderMadeIfMissing(place.name)
        }
        root = try Folder(at: path)
    }

    /// Takes the lock that lets one process at a time write the tree, until the file is closed.
    ///
    /// - Throws: `EventLogError` with code `locked`.
    func lock() throws -> OpenFile {
        let file = try root.fileMadeIfMissing(".lock")
        guard file.takeLock() else {
            throw EventLogError(
                .locked,
                operation: "ship to",
                object: root.path,
                reason: "another process writes the tree",
                advice: "try again when it is done"
            )
        }
        return file
    }

    private func folder(_ path: [String]) throws -> Folder {
        if let last, last.path == path { return last.folder }
        let folder = try path.reduce(root) { try $0.folderMadeIfMissing($1) }
        last = (path, folder)
        return folder
    }

    private func existing(_ path: [String]) throws -> Folder? {
        var folder = root
        for name in path {
            guard let next = try folder.folder(name) else { return nil }
            folder = next
        }
        return folder
    }

    /// Writes a file in place of one that is there. Durable after `sync`.
    func write(_ bytes: [UInt8], at path: [String]) throws {
        try write(at: path.dropLast(), name: { path.last ?? "" }) { file, name in try file.write(bytes, at: 0, name) }
    }

    /// Writes a file whose name is known only at its end.
    func write(
        at folderPath: [String],
        name: () -> String,
        _ body: (_ file: OpenFile, _ path: String) throws -> Void
    ) throws {
        let folder = try folder(folderPath)
        let draft = ".draft"
        try folder.removeFile(draft)
        let file = try folder.makeFile(draft)
        do {
            try body(file, folder.path(of: draft))
            try folder.move(draft, to: name())
        } catch {
            try? folder.removeFile(draft)
            throw error
        }
    }

    /// The size of a file; `nil` if there is none.
    func size(at path: [String]) throws -> UInt64? {
        try existing(path.dropLast())?.file(path.last ?? "")?.byteCount
    }

    /// The bytes of a file; `nil` if there is none.
    func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]? {
        try FolderTree(root).bytes(at: path, bytesMax: bytesMax)
    }

    /// The names in a folder; none if there is no such folder.
    func names(at path: [String]) throws -> [String] {
        try existing(path)?.names() ?? []
    }

    /// Removes a file, if there is one.
    func remove(at path: [String]) throws {
        try existing(path.dropLast())?.removeFile(path.last ?? "")
    }

    /// Removes a folder of files, if there is one, and of folders down to `depth` levels below it.
    func removeFolder(at path: [String], depth: Int = 0) throws {
        try existing(path.dropLast())?.removeFolder(path.last ?? "", depth: depth)
        last = nil
    }

    /// Makes everything durable that was written, by one call: a sync of each of thousands of files takes far longer.
    func sync() {
        #if canImport(Glibc)
        Glibc.sync()
        #elseif canImport(Musl)
        Musl.sync()
        #else
        Darwin.sync()
        #endif
    }
}
