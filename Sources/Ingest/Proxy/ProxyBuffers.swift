#if Recorders
import NIOCore

/// The sizes of the buffers that a proxy reads into: they follow what comes, and none is kept for the next read.
///
/// NIO keeps the largest buffers of a connection for as long as it lasts. Of ten thousand connections most are idle, so only
/// the first, small one is kept here. Takes effect with one read at a time (`maxMessagesPerRead`).
struct ProxyBuffers: RecvByteBufferAllocator {
    private var sizes = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 64 << 10)

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { sizes.buffer(allocator: allocator) }

    /// No size: a buffer that is there is not looked for.
    func nextBufferSize() -> Int? { nil }

    /// - Returns: true, so that each read has a buffer of its own.
    mutating func record(actualReadBytes: Int) -> Bool {
        _ = sizes.record(actualReadBytes: actualReadBytes)
        return true
    }
}
#endif
