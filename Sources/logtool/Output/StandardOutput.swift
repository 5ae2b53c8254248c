#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The reader of our output went away: the rest of it is wanted by nobody, which is no failure.
struct BrokenPipe: Error {}

/// Standard output, written in large pieces. What was not flushed is not written: every command ends with `flush`.
final class StandardOutput {
    /// How text is dressed for whoever reads it.
    let style: Style
    /// What shows the output on the terminal; started with the first piece, so that nothing is shown of a failure.
    var pager: Pager?
    private var hasBegun = false
    private var buffer: [UInt8] = []
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

    /// Writes bytes as they are, many at once without a copy.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if bytes.count < Self.bufferBytesMax {
            buffer.append(contentsOf: bytes)
            if buffer.count >= Self.bufferBytesMax { try flush() }
        } else {
            try flush()
            try hand(bytes)
        }
    }

    /// Hands everything to the system.
    ///
    /// - Throws: `BrokenPipe` where nobody reads any more, `Failure` for other trouble such as a full disk.
    func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes(hand)
    }

    private func hand(_ bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty else { return }
        if !hasBegun { begin() }
        try Self.writeAll(bytes)
    }

    /// The line of progress and the output share a terminal: the first piece of one ends the other.
    private func begin() {
        hasBegun = true
        guard Terminal.isTerminal(1) else { return }
        Progress.endCurrent()
        pager?.start()
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = writeOnce(UnsafeRawBufferPointer(rebasing: rest))
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EPIPE {
                throw BrokenPipe()
            } else if errno != EINTR {
                throw Failure("write to standard output: \(String(cString: strerror(errno)))")
            }
        }
    }

    private static func writeOnce(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(1, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(1, bytes.baseAddress, bytes.count)
        #endif
    }
}

/// Standard error: progress, warnings and the one line of a failure.
enum StandardError {
    /// Writes one line; trouble in doing so has nowhere to go.
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
