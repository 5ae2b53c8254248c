import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The reader of our output has closed the pipe. This is no failure: nobody wants the rest.
struct BrokenPipe: Error {}

/// Standard output, buffered. Every command must end with `flush`, or the rest is lost. For one thread.
final class StandardOutput {
    /// Colours and width of the output.
    let style: Style
    /// The pager, if any. It starts with the first piece, so that a command that fails before that shows none.
    var pager: Pager?
    private var hasBegun = false
    private var buffer: [UInt8] = []
    /// A line that is put together; empty between calls, kept for its memory.
    var scratch = TextLine()
    private static let bufferBytesMax = 64 << 10

    init(style: Style) {
        self.style = style
    }

    /// Writes one line of text.
    func line(_ text: String = "") throws {
        try write(text.utf8)
        try write(CollectionOfOne(UInt8(ascii: "\n")))
    }

    /// Writes bytes as they are.
    func write(_ bytes: some Collection<UInt8>) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferBytesMax { try flush() }
    }

    /// Writes bytes as they are, many at once without a copy. The pointer is not kept: what is not written is copied
    /// into the buffer.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if bytes.count < Self.bufferBytesMax {
            buffer.append(contentsOf: bytes)
            if buffer.count >= Self.bufferBytesMax { try flush() }
        } else {
            try flush()
            assert(buffer.isEmpty, "earlier output goes first")
            try hand(bytes)
        }
    }

    /// Writes the buffer.
    ///
    /// - Throws: `BrokenPipe` if the reader is gone, `Failure` for other trouble such as a full disk.
    func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes(hand)
    }

    /// Gives bytes to the system.
    private func hand(_ bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty else { return }
        if !hasBegun { begin() }
        try Self.writeAll(bytes)
    }

    /// Progress line and output share a terminal: the first piece of output removes the line.
    private func begin() {
        hasBegun = true
        guard Terminal.isTerminal(1) else { return }
        Progress.endCurrent()
        pager?.start()
    }

    /// Writes all bytes: a pipe or terminal may take them in pieces.
    private static func writeAll(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = writeOnce(UnsafeRawBufferPointer(rebasing: rest))
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EPIPE {
                throw BrokenPipe()
            } else if errno != EINTR {
                throw Failure("write to standard output: \(DiskRoom.text(errno))")
            }
        }
    }

    /// One system call, which may write less. `Glibc` and `Darwin` are named because `write` here is a method.
    private static func writeOnce(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(1, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(1, bytes.baseAddress, bytes.count)
        #endif
    }
}

/// Standard error: progress, warnings and the one line of a failure. Unbuffered, so that a line is out before the
/// process ends in whatever way. Any thread may write.
enum StandardError {
    /// Writes one line. Errors are ignored, because there is nowhere to report them.
    static func line(_ text: String) {
        write(text + "\n")
    }

    /// Writes text without a line's end.
    static func write(_ text: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            #if canImport(Glibc)
            _ = Glibc.write(2, bytes.baseAddress, bytes.count)
            #else
            _ = Darwin.write(2, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}
