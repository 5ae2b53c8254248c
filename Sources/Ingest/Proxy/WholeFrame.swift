#if Recorders
import EventLog

/// A frame that is a text or binary message by itself, not compressed, and lies whole in a piece of memory.
struct WholeFrame {
    private let payload: Range<Int>
    /// `nil` if the payload has no mask.
    private let mask: UInt32?

    /// Where the next frame begins.
    var end: Int { payload.upperBound }

    /// - Returns: `nil` for any other frame, also for one that is larger than what is kept of a message.
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer, at place: Int) {
        // The last frame of a message, with no extension: a text or bytes.
        guard place + 2 <= bytes.count, bytes[place] == 0x81 || bytes[place] == 0x82 else { return nil }
        var (start, length) = (place + 2, Int(bytes[place + 1] & 0x7F))
        switch length {
        case 126:
            guard place + 4 <= bytes.count else { return nil }
            (start, length) = (place + 4, Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
        case 127:
            guard place + 10 <= bytes.count else { return nil }
            let stated = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place + 2, as: UInt64.self))
            guard stated <= UInt64(EnvelopeLimits.payloadBytesMax) else { return nil }
            (start, length) = (place + 10, Int(stated))
        default: break
        }
        if bytes[place + 1] & 0x80 != 0 {
            guard start + 4 <= bytes.count else { return nil }
            mask = bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
            start += 4
        } else {
            mask = nil
        }
        guard length <= bytes.count - start else { return nil }
        payload = start..<start + length
    }

    /// Lends the payload with its mask undone. Cost: a copy of a payload that has a mask.
    ///
    /// - Parameter bytes: what the frame was made with.
    func lend(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        let masked = UnsafeRawBufferPointer(rebasing: bytes[payload])
        guard let mask else { return body(masked) }
        withUnsafeTemporaryAllocation(byteCount: masked.count, alignment: 4) { room in
            let words = masked.count / 4
            for word in 0..<words {
                let plain = masked.loadUnaligned(fromByteOffset: word * 4, as: UInt32.self) ^ mask
                room.storeBytes(of: plain, toByteOffset: word * 4, as: UInt32.self)
            }
            withUnsafeBytes(of: mask) { mask in
                for place in words * 4..<masked.count { room[place] = masked[place] ^ mask[place & 3] }
            }
            body(UnsafeRawBufferPointer(room))
        }
    }
}
#endif
