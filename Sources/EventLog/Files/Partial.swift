import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Makes files and folders beside their place, as `NAME.partial-PID`, until they are whole.
///
/// The maker holds a lock (`flock`) on what it makes. The next process that makes the same thing removes leftovers:
/// files and folders of this user, closed to others, whose process has ended and whose lock is free.
package enum Partial {
    private static let mark = ".partial-"
    /// Keeps threads apart: one could take another's new file for a leftover before that is locked.
    private static let turn = Mutex(())

    /// The name of something that will be called `target` once it is whole.
    package static func name(for target: String) -> String { "\(target)\(mark)\(processNumber)" }

    /// Makes the partial file of `target`, locked until it is closed, and removes leftovers of it.
    package static func makeFile(for target: String, in folder: Folder) throws -> OpenFile {
        try turn.withLock { _ in
            removeLeftovers(of: target, in: folder)
            let file = try folder.makeFile(name(for: target))
            // Without the lock, as on a file system that has none, the process number in the name still protects the
            // file.
            _ = file.takeLock()
            return file
        }
    }

    /// Makes the partial folder of `target`, and removes leftovers of it. The returned folder holds the lock.
    package static func makeFolder(for target: String, in folder: Folder) throws -> Folder {
        try turn.withLock { _ in
            removeLeftovers(of: target, in: folder)
            let made = try folder.makeFolder(name(for: target))
            _ = made.takeLock()
            return made
        }
    }

    /// Writes a file, synced, that appears at its path whole. It replaces a file there and takes over its permissions;
    /// anything else at the path, such as a link, is an error and stays: who made the folder must not choose what is
    /// written to. A new file is closed to others. The renaming is not synced: after a power loss the former file may be
    /// at the path.
    package static func write(_ bytes: [UInt8], toFileAt path: String) throws {
        let place = Directory.split(path)
        let folder = try Folder(at: place.parent)
        let former = try folder.status(of: place.name)
        if let former { try folder.check(former, place.name, isWritten: false) }
        let mode = former.map { $0.st_mode & 0o777 } ?? 0o600
        let file = try makeFile(for: place.name, in: folder)
        do {
            try file.write(bytes, path)
            try file.sync(path)
            _ = fchmod(file.descriptor, mode)
            try folder.move(name(for: place.name), to: place.name)
        } catch {
            try? folder.removeFile(name(for: place.name))
            throw error
        }
    }

    /// Removes the leftovers of `target`. One that cannot be removed stays, and is no error.
    private static func removeLeftovers(of target: String, in folder: Folder) {
        let start = target + mark
        for name in (try? folder.names()) ?? [] where name.hasPrefix(start) {
            guard let process = process(named: name.dropFirst(start.count)) else { continue }
            // A process that has ended may have had this process's number.
            guard process == processNumber || isGone(process) else { continue }
            try? removeLeftover(name, in: folder)
        }
    }

    /// The process number in a name; `nil` if the text is not a number as names contain it.
    static func process(named digits: Substring) -> Int32? {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != "0" else { return nil }
        return Int32(digits)
    }

    /// Whether no process of this machine has the number.
    static func isGone(_ process: Int32) -> Bool {
        kill(process, 0) != 0 && errno == ESRCH
    }

    private static func removeLeftover(_ name: String, in folder: Folder) throws {
        guard let information = try folder.status(of: name), information.st_uid == geteuid(),
            information.st_mode & 0o077 == 0
        else { return }
        switch Folder.kind(information) {
        case .file:
            guard let file = try folder.file(name), file.takeLock() else { return }
            try folder.removeFile(name)
        case .folder:
            guard let inner = try folder.folder(name), inner.takeLock() else { return }
            // A run's own folder may contain a log.
            try folder.removeFolder(name, depth: LogDirectory.depth + 1)
        case .foreign, .nothing: return
        }
    }
}
