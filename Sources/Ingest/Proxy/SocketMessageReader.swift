#if Recorders
import EventLog
import NIOCore

/// Joins the frames of one direction of a WebSocket to messages, and undoes permessage-deflate (RFC 7692).
///
/// Of a message that expands to more than 64 MiB, the length and hash of what was expanded so far are kept, and nothing
/// that follows is read: the shared window is lost.
struct SocketMessageReader {
    enum Event {
        case message(KeptContent.Result)
        /// A close frame; 1005 if it has no code.
        case close(UInt16)
    }

    /// The most bytes that a message may expand to.
    private static let expandedBytesMax = 64 << 20

    private var frames = SocketFrameReader()
    private let inflater: Inflater?
    private let forgetsWindow: Bool
    private var content: KeptContent?
    private var isCompressed = false
    private var opcode: UInt8 = 0
    private var isFinal = false
    private var control: [UInt8] = []
    /// True once the bytes cannot be read; they pass all the same.
    private(set) var isLost = false

    /// - Parameters:
    ///   - inflater: for messages that come compressed; `nil` if none may.
    ///   - forgetsWindow: whether each message begins with an empty window.
    init(inflater: Inflater?, forgetsWindow: Bool) {
        (self.inflater, self.forgetsWindow) = (inflater, forgetsWindow)
    }

    /// Takes bytes; returns the messages and closes that they complete, each with the number of bytes of `buffer` up to
    /// its end.
    mutating func push(_ buffer: ByteBuffer) -> [(event: Event, end: Int)] {
        guard !isLost else { return [] }
        var (buffer, events) = (buffer, [(event: Event, end: Int)]())
        let count = buffer.readableBytes
        do {
            while let part = try frames.next(&buffer) {
                if let event = try take(part) { events.append((event, count - buffer.readableBytes)) }
                if isLost { break }
            }
        } catch {
            isLost = true
            content = nil
        }
        return events
    }

    private mutating func take(_ part: SocketFrameReader.Part) throws -> Event? {
        switch part {
        case .begin(let opcode, let isFinal, let isCompressed, _):
            (self.opcode, self.isFinal) = (opcode, isFinal)
            guard opcode < 8 else {
                control = []
                return nil
            }
            // A continuation needs a beginning, and a beginning none before it.
            guard (opcode == 0) == (content != nil) else { throw SocketFrameReader.Fault() }
            if opcode != 0 { (content, self.isCompressed) = (KeptContent(), isCompressed) }
            if self.isCompressed, inflater == nil { throw SocketFrameReader.Fault() }
            return nil
        case .payload(let piece):
            if opcode >= 8 { control.append(contentsOf: piece.readableBytesView) } else { return try append(piece) }
            return nil
        case .end: return try end()
        }
    }

    private mutating func append(_ piece: ByteBuffer) throws -> Event? {
        try piece.withUnsafeReadableBytes { try append($0) }
        guard let content, content.byteCount > Self.expandedBytesMax, isCompressed else { return nil }
        isLost = true
        return .message(content.result)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        guard isCompressed, let inflater else {
            content?.append(bytes)
            return
        }
        var current = content ?? KeptContent()
        content = nil
        defer { content = current }
        try inflater.push(bytes) { piece in
            current.append(piece)
            return current.byteCount <= Self.expandedBytesMax
        }
    }

    private mutating func end() throws -> Event? {
        if opcode == 8 {
            return .close(control.count >= 2 ? UInt16(control[0]) << 8 | UInt16(control[1]) : 1005)
        }
        guard opcode < 8, isFinal else { return nil }
        if isCompressed {
            // The sender leaves out these bytes of the last block (RFC 7692, section 7.2.1).
            try ([0, 0, 0xFF, 0xFF] as [UInt8]).withUnsafeBytes { try append($0) }
            if forgetsWindow { inflater?.reset() }
        }
        defer { content = nil }
        return content.map { .message($0.result) }
    }
}
#endif
