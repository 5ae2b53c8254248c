#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that appears at its place once it is written whole.
final class OutputFile {
    private let path: String
    private let draft: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isDone = false
    private static let bufferBytesMax = 1 << 18

    /// Begins a file.
    ///
    /// - Throws: `Failure` with exit code 4 where something is there and may not be overwritten.
    init(_ path: String, overwrites: Bool) throws {
        self.path = path
        draft = "\(path).partial-\(getpid())"
        guard overwrites || access(path, F_OK) != 0 else {
            throw Failure("write \"\(path)\": it is there already; overwrite it with --yes", exitCode: Outcome.refused)
        }
        descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.trouble(path) }
    }

    deinit {
        close(descriptor)
        if !isDone { unlink(draft) }
    }

    /// Adds bytes as they are.
    func add(_ bytes: [UInt8]) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferBytesMax { try flush() }
    }

    /// Makes it durable and puts it in its place.
    func finish() throws {
        try flush()
        guard fsync(descriptor) == 0 || errno == EINVAL, rename(draft, path) == 0 else { throw Self.trouble(path) }
        isDone = true
    }

    private func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let written = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if written >= 0 {
                    done += written
                } else if errno != EINTR {
                    throw Self.trouble(path)
                }
            }
        }
    }

    private static func trouble(_ path: String) -> Failure {
        Failure("write \"\(path)\": \(String(cString: strerror(errno)))")
    }
}
