#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An exclusive lock on a file (`flock`), held until it is released or its process ends.
///
/// The file holds the number and the command of the process that took the lock last, for the error message of those
/// that wait. Threads that share one `FileLock` share the lock: it does not keep them apart. `@unchecked Sendable` is
/// right because nothing in it changes.
final class FileLock: @unchecked Sendable {
    private let file: OpenFile
    private let path: String
    private var descriptor: Int32 { file.descriptor }

    /// Opens the file, and makes it if it is missing. Does not take the lock.
    init(_ name: String, in folder: Folder) throws {
        file = try folder.fileMadeIfMissing(name)
        path = folder.path(of: name)
    }

    /// Whether a process holds the lock of a file; false if there is no file. The look takes the lock for a moment, so
    /// that another process that tries to take it just then must try again.
    static func isHeld(_ name: String, in folder: Folder) -> Bool {
        guard let file = try? folder.file(name) else { return false }
        // A lock that this call takes ends when `file` is closed.
        return flock(file.descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Takes the lock; polls until `wait` has passed, at first after 1 ms, later every 20 ms, because `flock` cannot
    /// wait for a limited time. A `wait` of zero tries once.
    ///
    /// - Throws: `EventLogError` with code `locked`, naming the holder, if the lock stays taken.
    func acquire(wait: Duration, operation: String, object: String) throws {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: wait)
        var delay = 1
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw EventLogError.system("lock", path) }
            guard clock.now < deadline else { throw lockedError(operation, object, wait) }
            pause(milliseconds: delay)
            delay = min(delay * 2, 20)
        }
        signHolder()
    }

    /// Releases the lock. The file stays and still names this process.
    func release() {
        _ = flock(descriptor, LOCK_UN)
    }

    private func lockedError(_ operation: String, _ object: String, _ wait: Duration) -> EventLogError {
        EventLogError(
            .locked,
            operation: operation,
            object: object,
            reason: "\(holder) holds the lock \(path), waited \(wait)",
            advice: "wait for it to end, or allow more time"
        )
    }

    /// The process that holds the lock now, in words. The file names only the last process of this program that took
    /// it; another program leaves the file as it is. So that process is named only if it holds the lock, or if the
    /// system cannot tell who does and the process is alive.
    private var holder: String {
        let lines = String(decoding: content(), as: UTF8.self).split(separator: "\n")
        let signer = lines.first.flatMap { Int32($0) }
        let command = lines.count > 1 ? " (\(lines[1]))" : ""
        let unknown = "another process, of unknown number,"
        guard let holders = LockHolders.processes(of: descriptor) else {
            return signer.flatMap { isAlive($0) ? "process \($0)\(command)" : nil } ?? unknown
        }
        if let signer, holders.contains(signer) { return "process \(signer)\(command)" }
        return holders.count == 1 ? "process \(holders[0])" : unknown
    }

    private func isAlive(_ process: Int32) -> Bool {
        process > 0 && (kill(process, 0) == 0 || errno == EPERM)
    }

    /// The file's first 512 bytes.
    private func content() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(0, count)))
    }

    /// Writes the file only if another process took the lock before, so that not every batch touches it.
    private func signHolder() {
        let name = Self.signature
        guard content() != name else { return }
        _ = ftruncate(descriptor, 0)
        _ = name.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    /// The number and the command of this process, a line each.
    private static let signature: [UInt8] = {
        let command = CommandLine.arguments.first.map { String($0.suffix(200)) } ?? "unknown"
        return Array("\(processNumber)\n\(command.replacing("\n", with: " "))\n".utf8)
    }()
}
