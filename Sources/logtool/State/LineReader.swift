#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads a file or standard input line by line, holding no more than one line and one piece of 256 KiB. Lines have a
/// limit, so that input without line ends cannot fill the memory. For one thread. A CR before the LF belongs to the
/// line; JSON takes it as white space.
final class LineReader {
    /// The longest lines that are read.
    struct Limits {
        /// The first line: the header of an export holds facts and bookmarks of the whole log.
        var firstBytesMax = 1 << 30
        /// Any other line: a payload of 16 MiB, each byte escaped as six, and the other members.
        var bytesMax = 128 << 20
    }

    /// The number of the line that was read last, from 1.
    private(set) var number = 0
    private let path: String
    private let limits: Limits
    private let descriptor: Int32
    /// Bytes that were read; those before `start` were returned.
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private static let pieceBytes = 1 << 18

    /// Opens a file; `-` is standard input. Waits while a FIFO has no writer.
    ///
    /// - Throws: `Failure` if the file cannot be opened.
    init(_ path: String, limits: Limits = Limits()) throws {
        self.path = path
        self.limits = limits
        descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.trouble(path) }
    }

    deinit {
        if descriptor > 0 { close(descriptor) }
    }

    /// The next line without its LF; `nil` after the last. A last line needs no LF.
    ///
    /// - Throws: `Failure` if the line is too long or cannot be read.
    func next() throws -> [UInt8]? {
        var scanned = start
        while true {
            if let end = newline(from: scanned) {
                try checkLength(end - start)
                defer { start = end + 1 }
                number += 1
                return Array(buffer[start..<end])
            }
            // `fill` moves the rest to the buffer's beginning, so that the next search begins behind the bytes that had
            // no LF.
            scanned = buffer.count - start
            try checkLength(scanned)
            if isAtEnd { return rest() }
            try fill()
        }
    }

    private func checkLength(_ count: Int) throws {
        let limit = number == 0 ? limits.firstBytesMax : limits.bytesMax
        guard count > limit else { return }
        throw Failure("read \"\(path)\": line \(number + 1) is longer than \(limit >> 20) MiB")
    }

    /// What follows the last LF; `nil` if nothing does.
    private func rest() -> [UInt8]? {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        number += 1
        return Array(buffer[start...])
    }

    /// The index of the next LF. `memchr` reads from `place` to the buffer's end alone, and the pointer stays within
    /// the closure.
    private func newline(from place: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard place < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + place, 0x0A, bytes.count - place)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Drops the returned lines and reads one piece.
    private func fill() throws {
        assert(start <= buffer.count, "the lines that were returned lie in the buffer")
        buffer.removeFirst(start)
        start = 0
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count >= 0 {
                isAtEnd = count == 0
                return buffer.append(contentsOf: piece[..<count])
            }
            guard errno == EINTR else { throw Self.trouble(path) }
        }
    }

    /// An error with the reason in `errno`; to be called before anything else changes that.
    private static func trouble(_ path: String) -> Failure {
        Failure("read \"\(path)\": \(String(cString: strerror(errno)))")
    }
}
