#if Recorders
import NIOCore

/// Cuts the bytes of one direction of a WebSocket into frames (RFC 6455, section 5.2), without holding a payload.
///
/// NIO's decoder gives whole frames and says not where in the bytes they end; a proxy passes bytes before a frame is whole.
struct SocketFrameReader {
    /// What the next bytes are.
    enum Part {
        case begin(opcode: UInt8, isFinal: Bool, isCompressed: Bool, length: UInt64)
        /// A piece of a payload, its mask undone.
        case payload(ByteBuffer)
        case end
    }

    /// The bytes are no WebSocket, or use an extension that is not understood.
    struct Fault: Error {}

    private var header: [UInt8] = []
    private var needed = 2
    private var rest: UInt64 = 0
    private var mask: [UInt8] = []
    private var maskIndex = 0
    private var isInPayload = false

    /// Whether the next byte begins a frame.
    var isBetweenFrames: Bool { header.isEmpty && !isInPayload }

    /// Takes the next part out of the buffer; `nil` once more bytes are needed.
    mutating func next(_ buffer: inout ByteBuffer) throws(Fault) -> Part? {
        if isInPayload {
            guard rest > 0 else {
                isInPayload = false
                return .end
            }
            let count = Int(min(UInt64(buffer.readableBytes), rest))
            guard count > 0, var piece = buffer.readSlice(length: count) else { return nil }
            rest -= UInt64(count)
            unmask(&piece)
            return .payload(piece)
        }
        while header.count < needed {
            guard let byte: UInt8 = buffer.readInteger() else { return nil }
            header.append(byte)
            if header.count == 2 { try measure() }
        }
        return try begin()
    }

    private mutating func measure() throws(Fault) {
        guard header[0] & 0x30 == 0 else { throw Fault() }
        let short = header[1] & 0x7F
        needed = 2 + (short == 126 ? 2 : short == 127 ? 8 : 0) + (header[1] & 0x80 != 0 ? 4 : 0)
    }

    private mutating func begin() throws(Fault) -> Part {
        let isMasked = header[1] & 0x80 != 0
        let lengthEnd = needed - (isMasked ? 4 : 0)
        var length = UInt64(header[1] & 0x7F)
        if lengthEnd > 2 { length = header[2..<lengthEnd].reduce(0) { $0 << 8 | UInt64($1) } }
        guard length < 1 << 62 else { throw Fault() }
        mask = isMasked ? Array(header[lengthEnd...]) : []
        let first = header[0]
        (rest, maskIndex, isInPayload, needed) = (length, 0, true, 2)
        header.removeAll(keepingCapacity: true)
        let opcode = first & 0x0F
        let isControl = opcode >= 8
        guard [0, 1, 2, 8, 9, 10].contains(opcode), !isControl || (length <= 125 && first & 0xC0 == 0x80) else {
            throw Fault()
        }
        return .begin(
            opcode: opcode,
            isFinal: first & 0x80 != 0,
            isCompressed: first & 0x40 != 0,
            length: length
        )
    }

    private mutating func unmask(_ piece: inout ByteBuffer) {
        guard !mask.isEmpty else { return }
        let start = maskIndex
        let mask = mask
        piece.withUnsafeMutableReadableBytes { bytes in
            for index in bytes.indices { bytes[index] ^= mask[(start + index) & 3] }
        }
        maskIndex = (start + piece.readableBytes) & 3
    }
}
#endif
