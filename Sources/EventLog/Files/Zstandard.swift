import CZstd

/// Compresses bytes, piece by piece, into one Zstandard frame with a checksum (RFC 8878). For one thread.
package final class ZstandardCompressor {
    private let context: OpaquePointer
    private var room = [UInt8](repeating: 0, count: ZSTD_CStreamOutSize())

    /// - Parameter level: 1 to 19; a higher one takes more time and less room.
    /// - Throws: `EventLogError` with code `io` if there is no memory for it.
    package init(level: Int32) throws {
        guard let context = ZSTD_createCCtx() else { throw Zstandard.error("compress", "there is no memory for it") }
        self.context = context
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, Zstandard.windowLogMax)
        // Commits repeat whole files, which lie far apart.
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1)
    }

    deinit {
        ZSTD_freeCCtx(context)
    }

    /// Takes bytes, and passes on what is ready; with `isLast` everything that is left, which ends the frame.
    package func add(_ bytes: [UInt8], isLast: Bool = false, to output: ([UInt8]) throws -> Void) throws {
        try bytes.withUnsafeBytes { bytes in
            var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
            var isDone = false
            while !isDone {
                let (code, count) = step(&input, isLast)
                guard ZSTD_isError(code) == 0 else { throw Zstandard.error("compress", Zstandard.text(code)) }
                if count > 0 { try output(Array(room[..<count])) }
                isDone = isLast ? code == 0 : input.pos == input.size
            }
        }
    }

    /// Compresses into `room`. Returns the library's code, and the number of bytes.
    private func step(_ input: inout ZSTD_inBuffer, _ isLast: Bool) -> (code: Int, count: Int) {
        room.withUnsafeMutableBytes { room in
            var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
            let code = ZSTD_compressStream2(context, &output, &input, isLast ? ZSTD_e_end : ZSTD_e_continue)
            return (code, output.pos)
        }
    }
}

/// Reads the bytes that Zstandard frames stand for, one after another. Holds one piece of each, and at most 128 MiB that frames may
/// refer back to, whatever they expand to (C17). For one thread.
package final class ZstandardReader {
    private let context: OpaquePointer
    /// Bytes that were read; those before `start` are decompressed.
    private var piece: [UInt8]
    private var start = 0
    /// Whether the bytes so far end with a whole frame.
    private var isWhole = false
    /// Whether the last step filled the buffer, so that more may be ready.
    private var isFull = false
    private let read: (inout [UInt8]) throws -> Int

    /// - Parameters:
    ///   - first: bytes that were read already.
    ///   - read: fills its argument with the next bytes and returns their number; 0 at the end.
    /// - Throws: `EventLogError` with code `io` if there is no memory for it.
    package init(first: [UInt8], read: @escaping (inout [UInt8]) throws -> Int) throws {
        guard let context = ZSTD_createDCtx() else { throw Zstandard.error("decompress", "there is no memory for it") }
        self.context = context
        _ = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Zstandard.windowLogMax)
        (piece, self.read) = (first, read)
    }

    deinit {
        ZSTD_freeDCtx(context)
    }

    /// Fills the buffer with the next bytes and returns their number; 0 at the end.
    ///
    /// - Throws: what `read` throws; `EventLogError` with code `io` for what is no Zstandard frame, is damaged, or ends within
    ///   one.
    package func next(_ buffer: inout [UInt8]) throws -> Int {
        while true {
            if start == piece.count, !isFull {
                var more = [UInt8](repeating: 0, count: 1 << 18)
                let count = try read(&more)
                guard count > 0 else {
                    guard isWhole else { throw Zstandard.error("decompress", "it ends too early") }
                    return 0
                }
                (piece, start) = (Array(more[..<count]), 0)
            }
            let count = try step(&buffer)
            if count > 0 { return count }
        }
    }

    private func step(_ buffer: inout [UInt8]) throws -> Int {
        let (code, used, count) = piece.withUnsafeBytes { piece in
            buffer.withUnsafeMutableBytes { buffer in
                var input = ZSTD_inBuffer(src: piece.baseAddress, size: piece.count, pos: start)
                var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
                let code = ZSTD_decompressStream(context, &output, &input)
                return (code, input.pos, output.pos)
            }
        }
        guard ZSTD_isError(code) == 0 else { throw Zstandard.error("decompress", Zstandard.text(code)) }
        (start, isWhole, isFull) = (used, code == 0, count == buffer.count)
        return count
    }
}

/// What compressing and decompressing share.
package enum Zstandard {
    /// Frames refer back at most 2^27 bytes, 128 MiB: what `zstd` itself reads without being told to.
    static let windowLogMax: Int32 = 27

    /// The bytes that a frame begins with.
    package static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// One frame of bytes, with a checksum. Takes less time for a few of them than `ZstandardCompressor`, whose tables are large.
    ///
    /// - Parameter level: 1 to 19.
    /// - Throws: `EventLogError` with code `io` if there is no memory for it.
    package static func frame(of bytes: [UInt8], level: Int32) throws -> [UInt8] {
        guard let context = ZSTD_createCCtx() else { throw error("compress", "there is no memory for it") }
        defer { ZSTD_freeCCtx(context) }
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        return try frame(of: bytes, in: context)
    }

    /// The frame that a context makes of bytes.
    static func frame(of bytes: [UInt8], in context: OpaquePointer) throws -> [UInt8] {
        let bound = ZSTD_compressBound(bytes.count)
        var code = 0
        let frame = bytes.withUnsafeBytes { bytes in
            [UInt8](unsafeUninitializedCapacity: bound) { frame, count in
                code = ZSTD_compress2(context, frame.baseAddress, bound, bytes.baseAddress, bytes.count)
                count = ZSTD_isError(code) == 0 ? code : 0
            }
        }
        guard ZSTD_isError(code) == 0 else { throw error("compress", text(code)) }
        return frame
    }

    /// A frame that gives bytes to who has other bytes that are mostly the same.
    ///
    /// - Throws: `EventLogError` with code `io` if there is no memory for it.
    static func patch(_ bytes: [UInt8], against base: [UInt8]) throws -> [UInt8] {
        guard let context = ZSTD_createCCtx() else { throw error("compress", "there is no memory for it") }
        defer { ZSTD_freeCCtx(context) }
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLogMax)
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1)
        return try base.withUnsafeBytes { base in
            // The prefix is referred to, not copied, until the call is over.
            _ = ZSTD_CCtx_refPrefix(context, base.baseAddress, base.count)
            return try frame(of: bytes, in: context)
        }
    }

    /// The bytes that `patch` was made of, at most so many.
    ///
    /// - Throws: `EventLogError` with code `io` for what is no frame, is damaged, or expands to more.
    static func patched(_ frame: [UInt8], against base: [UInt8], bytesMax: Int) throws -> [UInt8] {
        guard let context = ZSTD_createDCtx() else { throw error("decompress", "there is no memory for it") }
        defer { ZSTD_freeDCtx(context) }
        _ = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLogMax)
        let size = frame.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        // Both numbers that stand for no size are greater than any size.
        guard size <= UInt64(bytesMax) else { throw error("decompress", "it is no frame, or too large") }
        var code = 0
        let bytes = base.withUnsafeBytes { base in
            frame.withUnsafeBytes { frame in
                [UInt8](unsafeUninitializedCapacity: Int(size)) { bytes, count in
                    _ = ZSTD_DCtx_refPrefix(context, base.baseAddress, base.count)
                    code = ZSTD_decompressDCtx(context, bytes.baseAddress, Int(size), frame.baseAddress, frame.count)
                    count = ZSTD_isError(code) == 0 ? code : 0
                }
            }
        }
        guard ZSTD_isError(code) == 0 else { throw error("decompress", text(code)) }
        return bytes
    }

    static func text(_ code: Int) -> String { String(cString: ZSTD_getErrorName(code)) }

    static func error(_ operation: String, _ reason: String) -> EventLogError {
        EventLogError(.io, operation: operation, object: "", reason: reason)
    }
}
