#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An exclusive lock on a file (`flock`), held until it is released or its process ends.
///
/// The file holds the number and the command of the process that took it last, for the message of those who wait.
final class FileLock: @unchecked Sendable {
    private let file: OpenFile
    private let path: String
    private var descriptor: Int32 { file.descriptor }

    /// Opens the file, making it where it is missing, without taking the lock.
    init(_ name: String, in folder: Folder) throws {
        file = try folder.fileMadeIfMissing(name)
        path = folder.path(of: name)
    }

    /// Whether somebody holds the lock of a file; no where there is no file. Whoever tries to take it at this very moment
    /// must try twice.
    static func isHeld(_ name: String, in folder: Folder) -> Bool {
        guard let file = try? folder.file(name) else { return false }
        return flock(file.descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Takes the lock, polling for as long as `wait` says.
    ///
    /// - Throws: `EventLogError` with code `locked`, naming the holder, where it stays taken.
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

    /// Gives the lock back.
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

    /// Who holds the lock now. The file says who took it last by this program; another program signs nothing, so that the
    /// process of the file is named only where it holds the lock, or where the system does not say who does and it lives.
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

    private func content() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(0, count)))
    }

    /// Writes only where another process was here before: the file is not to be touched for every batch.
    private func signHolder() {
        let name = Self.signature
        guard content() != name else { return }
        _ = ftruncate(descriptor, 0)
        _ = name.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    private static let signature: [UInt8] = {
        let command = CommandLine.arguments.first.map { String($0.suffix(200)) } ?? "unknown"
        return Array("\(processNumber)\n\(command.replacing("\n", with: " "))\n".utf8)
    }()
}
