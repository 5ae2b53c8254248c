#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads whole files. For inputs that are needed as a whole.
package enum InputFile {
    /// The bytes of a file; of standard input for `-`. A pipe is read to its end, however long that takes.
    ///
    /// - Throws: `EventLogError` with code `io` if the file cannot be read or has more than `bytesMax` bytes.
    package static func bytes(at path: String, bytesMax: Int = .max) throws -> [UInt8] {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw trouble(path) }
        defer { if descriptor != 0 { close(descriptor) } }
        return try bytes(of: descriptor, path, bytesMax)
    }

    /// The bytes of a regular file whose name somebody else chose (C17): no link is followed, and nothing is waited for.
    /// `nil` if it is something else, larger, or cannot be read.
    package static func untrustedBytes(at path: String, bytesMax: Int) -> [UInt8]? {
        // O_NONBLOCK: opening a FIFO would otherwise wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        // Checked on the descriptor, because the path may have changed since it was opened.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) <= bytesMax
        else {
            return nil
        }
        return try? bytes(of: descriptor, path, bytesMax)
    }

    private static func bytes(of descriptor: Int32, _ path: String, _ bytesMax: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count > 0 {
                bytes.append(contentsOf: piece[..<count])
                if bytes.count > bytesMax { throw error(path, "it has more than \(bytesMax) bytes") }
            } else if count == 0 {
                return bytes
            } else if errno != EINTR {
                throw trouble(path)
            }
        }
    }

    /// True for a file, also behind a link: reading it again gives its bytes again. False for a pipe or nothing.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// An error with the reason in `errno`; to be called before anything else changes that.
    private static func trouble(_ path: String) -> EventLogError {
        error(path, String(cString: strerror(errno)))
    }

    private static func error(_ path: String, _ reason: String) -> EventLogError {
        EventLogError(.io, operation: "read", object: path, reason: reason)
    }
}
