#if Recorders
import EventLog
import NIOCore

/// Joins the frames of one direction of a WebSocket to messages, and undoes permessage-deflate (RFC 7692).
///
/// Of a message that expands to more than 64 MiB, the length and hash of what was expanded so far are kept, and nothing
/// that follows is read: the shared window is lost.
struct SocketMessageReader {
    enum Event {
        case message(LentContent)
        /// A close frame; 1005 if it has no code.
        case close(UInt16)
    }

    private enum Outcome {
        case message(KeptContent.Result)
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

    /// Takes bytes, and tells of each message and close that they complete, in order.
    ///
    /// - Parameter tell: given also the number of bytes of `buffer` up to the event's end. What a message lends is valid only
    ///   within.
    mutating func push(_ buffer: ByteBuffer, _ tell: (_ event: Event, _ end: Int) -> Void) {
        var buffer = buffer
        let start = buffer.readerIndex
        do {
            while !isLost {
                if frames.isBetweenFrames, content == nil { passWhole(&buffer, start, tell) }
                guard let part = try frames.next(&buffer) else { break }
                guard let outcome = try take(part) else { continue }
                let end = buffer.readerIndex - start
                switch outcome {
                case .message(let content): content.lend { tell(.message($0), end) }
                case .close(let code): tell(.close(code), end)
                }
            }
        } catch {
            isLost = true
            content = nil
        }
    }

    /// Tells of the messages that are one frame each, not compressed, and whole in the buffer, up to the first that is not.
    /// Nothing of those that come without a mask is copied.
    private func passWhole(_ buffer: inout ByteBuffer, _ start: Int, _ tell: (_ event: Event, _ end: Int) -> Void) {
        let before = buffer.readerIndex - start
        let taken = buffer.withUnsafeReadableBytes { bytes in
            var place = 0
            while let frame = WholeFrame(bytes, at: place) {
                place = frame.end
                frame.lend(bytes) { tell(.message(.bytes($0)), before + frame.end) }
            }
            return place
        }
        buffer.moveReaderIndex(forwardBy: taken)
    }

    private mutating func take(_ part: SocketFrameReader.Part) throws -> Outcome? {
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

    private mutating func append(_ piece: ByteBuffer) throws -> Outcome? {
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

    private mutating func end() throws -> Outcome? {
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
