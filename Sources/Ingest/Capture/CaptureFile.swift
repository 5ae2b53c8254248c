import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A capture that can be read several times: the file itself, or an unnamed temporary copy of a pipe or standard input.
///
/// Owns the descriptor. Reads name their place in the file (`pread`), so any number of readers can share it.
final class CaptureFile {
    /// The name in messages.
    let name: String
    /// The number of bytes when the file was opened; bytes added later belong to the next run.
    let size: Int
    /// Open for reading until `deinit`.
    let descriptor: Int32
    private let operation: String

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - operation: the operation's name in errors.
    ///   - emptyCode: the error's code for a directory or an empty file.
    /// - Throws: `IngestError` with code `io` if it cannot be read, or with `emptyCode`.
    init(path: String, operation: String = "ingest capture", emptyCode: IngestError.Code = .invalidCapture) throws {
        self.operation = operation
        name = path == "-" ? "standard input" : path
        let opened = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw Self.systemError(name, operation) }
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            defer { close(opened) }
            throw Self.systemError(name, operation)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            close(opened)
            throw IngestError(
                emptyCode,
                operation: operation,
                object: name,
                reason: "it is a directory, not a file",
                advice: "name a file; for a git repository use: logtool ingest LOG git REPO"
            )
        // Standard input is copied even if it is a file: its offset may lie within the file, and reading begins there.
        case S_IFREG where path != "-":
            descriptor = opened
            size = Int(status.st_size)
        default:
            defer { close(opened) }
            (descriptor, size) = try Self.spool(opened, name, operation)
        }
        // Every property is set, so `deinit` runs after a throw from here on, and closes the file.
        guard size > 0 else {
            throw IngestError(emptyCode, operation: operation, object: name, reason: "it is empty")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Reads the lines from the beginning.
    func lines() -> CaptureLineReader {
        CaptureLineReader(self)
    }

    /// An error of `ingest capture`; `name` is the file, with a line number where one is to blame.
    static func error(_ code: IngestError.Code, _ name: String, _ reason: String, advice: String = "") -> IngestError {
        IngestError(code, operation: "ingest capture", object: name, reason: reason, advice: advice)
    }

    /// The error of the last system call, by `errno`.
    func systemError() -> IngestError { Self.systemError(name, operation) }

    private static func systemError(_ name: String, _ operation: String) -> IngestError {
        IngestError(.io, operation: operation, object: name, reason: String(cString: strerror(errno)))
    }

    /// Copies all bytes into a temporary file without a name, which vanishes with its descriptor, also after a crash.
    /// Reads to the end of the input, however long that takes.
    ///
    /// - Throws: `IngestError` with code `io`.
    private static func spool(
        _ input: Int32,
        _ name: String,
        _ operation: String
    ) throws -> (descriptor: Int32, size: Int) {
        let copy = UnnamedFile.make(in: FileManager.default.temporaryDirectory.path)
        guard copy >= 0 else { throw systemError(name, operation) }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var size = 0
        while true {
            let count = read(input, &buffer, buffer.count)
            // A signal interrupted the read; nothing was read.
            if count < 0, errno == EINTR { continue }
            guard count >= 0, writeAll(copy, buffer, count) else {
                defer { close(copy) }
                throw systemError(name, operation)
            }
            if count == 0 { return (copy, size) }
            size += count
        }
    }

    /// Writes the first `count` bytes; false if that fails, with the cause in `errno`.
    private static func writeAll(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < count {
                let written = write(descriptor, buffer.baseAddress.map { $0 + offset }, count - offset)
                if written < 0, errno != EINTR { return false }
                offset += max(0, written)
            }
            return true
        }
    }
}

/// Reads a capture line by line. Memory is bounded by one line, at most `lineBytesMax`, and the buffer.
struct CaptureLineReader {
    /// One line, without LF or CRLF.
    struct Line {
        /// From 1.
        let number: Int
        let bytes: [UInt8]
        /// True if the file ends within the line, without a line feed.
        let isUnterminated: Bool
        /// True if the line is longer than `lineBytesMax`; `bytes` is then empty.
        let isTooLong: Bool
    }

    /// The longest line, in bytes, that is held in memory. A payload of 16 MiB takes at most six times as much as JSON
    /// text, and a larger one must be decoded to get its hash.
    static let lineBytesMax = 256 << 20

    private let file: CaptureFile
    /// How much of the file was read into the buffer so far, in bytes.
    private var offset = 0
    /// The number of the last line; 0 before the first.
    private var number = 0
    /// The last piece of the file; its bytes from `start` on are not taken yet.
    private var buffer: [UInt8] = []
    private var start = 0

    init(_ file: CaptureFile) {
        self.file = file
    }

    /// The next line that is not blank; `nil` at the end. The part behind the last line feed is a line, too, unless it is
    /// empty. A byte order mark before the first line is passed over (RFC 8259, section 8.1, allows that).
    ///
    /// - Throws: `IngestError` with code `io`.
    mutating func next() throws -> Line? {
        while let line = try nextLine() {
            if line.isTooLong || !line.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return line }
        }
        return nil
    }

    private mutating func nextLine() throws -> Line? {
        // Most lines lie in the buffer as a whole, and are copied once.
        if start < buffer.count, case let end = Self.lineEnd(in: buffer, from: start), end < buffer.count {
            let line = Array(buffer[start..<end])
            start = end + 1
            return finish(line, line.count, isUnterminated: false)
        }
        var line: [UInt8] = []
        var length = 0
        while true {
            if start == buffer.count, try !fill() {
                guard length > 0 else { return nil }
                return finish(line, length, isUnterminated: true)
            }
            let end = Self.lineEnd(in: buffer, from: start)
            length += end - start
            // Once too long, the line is only counted, so that its memory is free again.
            if length <= Self.lineBytesMax { line.append(contentsOf: buffer[start..<end]) } else { line = [] }
            start = end
            guard start < buffer.count else { continue }
            start += 1
            return finish(line, length, isUnterminated: false)
        }
    }

    /// Counts the line, and takes off one CR before the line feed.
    private mutating func finish(_ line: [UInt8], _ length: Int, isUnterminated: Bool) -> Line {
        number += 1
        let isTooLong = length > Self.lineBytesMax
        var bytes = line.last == 0x0D ? line.dropLast() : line[...]
        if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        return Line(number: number, bytes: Array(bytes), isUnterminated: isUnterminated, isTooLong: isTooLong)
    }

    /// The index of the next LF, or the count. `memchr` looks only at bytes from `start` to the count.
    private static func lineEnd(in buffer: [UInt8], from start: Int) -> Int {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + start, 0x0A, bytes.count - start) else {
                return bytes.count
            }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Reads the next piece into the empty buffer; false at `size`, or earlier if the file was cut off meanwhile.
    private mutating func fill() throws -> Bool {
        assert(start == buffer.count, "what was read is taken before more is read")
        assert(self.offset <= file.size, "bytes added after the file was opened are not read")
        let wanted = min(256 << 10, file.size - offset)
        guard wanted > 0 else { return false }
        let offset = offset
        var count = 0
        // Only the bytes that the system has written count as initialised; -1 means none.
        buffer = [UInt8](unsafeUninitializedCapacity: wanted) { bytes, initialized in
            repeat {
                count = pread(file.descriptor, bytes.baseAddress, wanted, off_t(offset))
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        start = 0
        guard count >= 0 else { throw file.systemError() }
        self.offset += count
        return count > 0
    }
}
