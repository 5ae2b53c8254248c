#if Recorders
import CZlib

/// Decompresses a stream piece by piece (RFC 1950, 1951, 1952). It never holds more than one piece of output.
///
/// Used on one event loop.
final class Inflater {
    /// How the compressed bytes are framed.
    enum Form {
        /// No header: what permessage-deflate sends.
        case raw(windowBits: Int32)
        /// A header of gzip or zlib, which is told from the bytes.
        case gzip
        case zlib
    }

    /// The bytes are damaged, or there is no memory for the window.
    struct Damage: Error {}

    private var stream = z_stream()
    private let isStarted: Bool
    private var isOver = false

    init(_ form: Form) {
        let bits: Int32 =
            switch form {
            case .raw(let bits): -max(bits, 9)
            case .gzip: 15 + 16
            case .zlib: 15
            }
        isStarted = inflateInit2_(&stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        if isStarted { inflateEnd(&stream) }
    }

    /// Forgets the window: the next bytes begin another stream.
    func reset() {
        if isStarted { inflateReset(&stream) }
        isOver = false
    }

    /// Decompresses a piece; bytes behind the end of the stream are passed over.
    ///
    /// - Parameter body: takes the output, at most 64 KiB at a time; returns false to stop.
    /// - Throws: `Damage`.
    func push(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool) throws(Damage) {
        guard isStarted else { throw Damage() }
        guard !isOver, let base = bytes.baseAddress, !bytes.isEmpty else { return }
        // zlib only reads through this pointer.
        stream.next_in = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(bytes.count)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        defer {
            room.deallocate()
            stream.next_in = nil
        }
        while true {
            stream.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_out = UInt32(room.count)
            let code = inflate(&stream, Z_SYNC_FLUSH)
            let made = room.count - Int(stream.avail_out)
            if made > 0, !body(UnsafeRawBufferPointer(rebasing: room[..<made])) { return }
            switch code {
            case Z_STREAM_END:
                isOver = true
                return
            case Z_OK where stream.avail_in > 0 || stream.avail_out == 0: continue
            case Z_OK, Z_BUF_ERROR: return
            default: throw Damage()
            }
        }
    }
}
#endif
