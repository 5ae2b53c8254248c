import EventLog

#if canImport(Glibc)
import Glibc
private let readBytes = Glibc.read
#elseif canImport(Darwin)
import Darwin
private let readBytes = Darwin.read
#endif

/// Reads a file or standard input line by line, holding no more than one line and one piece of 256 KiB. Lines have a
/// limit, so that input without line ends cannot fill the memory. Input that is compressed by Zstandard is decompressed, and the
/// limit is on what it expands to. For one thread. A CR before the LF belongs to the line; JSON takes it as white space.
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
    /// What decompresses the input; `nil` for plain input.
    private var decompressor: ZstandardReader?
    /// Whether the first bytes have been looked at.
    private var isBegun = false
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
        if !isBegun { try begin() }
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = try decompress(&piece) ?? Self.read(descriptor, &piece, path)
        isAtEnd = count == 0
        buffer.append(contentsOf: piece[..<count])
    }

    /// Reads the first bytes, which tell whether the input is compressed.
    private func begin() throws {
        isBegun = true
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        var first: [UInt8] = []
        // A pipe may give them one by one.
        while first.count < Zstandard.magic.count {
            let count = try Self.read(descriptor, &piece, path)
            if count == 0 { break }
            first += piece[..<count]
        }
        guard first.starts(with: Zstandard.magic) else { return buffer = first }
        let (descriptor, path) = (descriptor, path)
        decompressor = try ZstandardReader(first: first) { try Self.read(descriptor, &$0, path) }
    }

    /// Fills the buffer with decompressed bytes; `nil` for plain input.
    private func decompress(_ piece: inout [UInt8]) throws -> Int? {
        do {
            return try decompressor?.next(&piece)
        } catch let error as EventLogError {
            throw Failure("\(error.operation) \"\(path)\": \(error.reason)")
        }
    }

    private static func read(_ descriptor: Int32, _ piece: inout [UInt8], _ path: String) throws -> Int {
        while true {
            let count = readBytes(descriptor, &piece, piece.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw trouble(path) }
        }
    }

    /// An error with the reason in `errno`; to be called before anything else changes that.
    private static func trouble(_ path: String) -> Failure {
        Failure("read \"\(path)\": \(String(cString: strerror(errno)))")
    }
}
