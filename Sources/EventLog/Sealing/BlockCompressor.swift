import CZstd
import Synchronization

/// Compresses blocks of bytes one by one, each into one Zstandard frame that says its size and has a checksum. For one thread.
final class BlockCompressor {
    private let context: OpaquePointer

    /// - Throws: `EventLogError` with code `io` if there is no memory for it.
    init(level: Int32) throws {
        guard let context = ZSTD_createCCtx() else { throw Zstandard.error("compress", "there is no memory for it") }
        self.context = context
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit {
        ZSTD_freeCCtx(context)
    }

    /// The frame of some bytes.
    func frame(of bytes: [UInt8]) throws -> [UInt8] { try Zstandard.frame(of: bytes, in: context) }
}

/// Decompresses blocks. Any thread may use it; each call takes a context that no other one uses, and gives it back.
final class BlockDecompressor: Sendable {
    /// A context, which one thread uses at a time.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let free = Mutex<[Context]>([])

    deinit {
        free.withLock { for context in $0 { ZSTD_freeDCtx(context.pointer) } }
    }

    /// Lends what a frame expands to, for the length of the call.
    ///
    /// - Parameter bytesMax: the most bytes that it may expand to; a frame that says more is not touched.
    /// - Returns: `nil` for what is no frame, is damaged, says no size, or says more than `bytesMax`.
    func withBytes<Result>(
        of frame: UnsafeRawBufferPointer,
        bytesMax: Int,
        _ body: (UnsafeRawBufferPointer) -> Result?
    ) -> Result? {
        let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        // Both numbers that stand for no size are greater than any size.
        guard size <= UInt64(bytesMax), let context = take() else { return nil }
        defer { free.withLock { $0.append(context) } }
        return withUnsafeTemporaryAllocation(byteCount: Int(size), alignment: 8) { room in
            let code = ZSTD_decompressDCtx(
                context.pointer,
                room.baseAddress,
                room.count,
                frame.baseAddress,
                frame.count
            )
            guard ZSTD_isError(code) == 0, code == room.count else { return nil }
            return body(UnsafeRawBufferPointer(room))
        }
    }

    private func take() -> Context? {
        if let context = free.withLock({ $0.popLast() }) { return context }
        return ZSTD_createDCtx().map { Context(pointer: $0) }
    }
}
