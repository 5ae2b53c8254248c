#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads a file descriptor through a buffer: up to a byte, exact counts, or to the end.
///
/// Owns the descriptor and the buffer, and releases both when it is deallocated; the buffer's pointer never leaves the
/// reader. `buffer[start..<end]` holds the bytes that were read and not taken; only these are initialised. Used by one
/// thread at a time. Reads block, and repeat when a signal interrupts them. After `close`, what is buffered can still
/// be read, then the end follows.
///
/// Every method throws `IngestError` with code `io` if a read fails.
final class PipeReader {
    private let descriptor: Int32
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var start = 0
    private var end = 0
    private var isClosed = false

    init(owning descriptor: Int32, capacity: Int = 256 << 10) {
        self.descriptor = descriptor
        buffer = .allocate(capacity: capacity)
    }

    deinit {
        close()
        buffer.deallocate()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        SystemCall.close(descriptor)
    }

    /// The next byte, without taking it; `nil` at the end.
    func peek() throws(IngestError) -> UInt8? {
        if start == end, try !fill() { return nil }
        return buffer[start]
    }

    /// Takes the bytes up to a terminator and the terminator, which is left out; `nil` if the input ends before it. The
    /// bytes without a terminator are lost then. Has no limit of its own: the caller trusts the writer to end its
    /// lines.
    func read(upTo terminator: UInt8) throws(IngestError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            if start == end, try !fill() { return nil }
            // Rebased, so that indices count from 0; valid until the next `fill` overwrites the buffer.
            let available = UnsafeMutableBufferPointer(rebasing: buffer[start..<end])
            if let index = available.firstIndex(of: terminator) {
                bytes.append(contentsOf: available[..<index])
                start += index + 1
                return bytes
            }
            bytes.append(contentsOf: available)
            start = end
        }
    }

    /// Takes exactly `count` bytes; `nil` if the input ends before. Reserves memory for `count` bytes at once, so the
    /// caller must bound a count that came from outside.
    func read(count: Int) throws(IngestError) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            if start == end, try !fill() { return nil }
            let taken = min(count - bytes.count, end - start)
            bytes.append(contentsOf: buffer[start..<start + taken])
            start += taken
        }
        return bytes
    }

    /// Skips `count` bytes; false if the input ends before.
    func skip(count: Int) throws(IngestError) -> Bool {
        var left = count
        while left > 0 {
            if start == end, try !fill() { return false }
            let taken = min(left, end - start)
            start += taken
            left -= taken
        }
        return true
    }

    /// Takes all bytes up to the end and returns the first `limit` of them. The rest is read and dropped, so that the
    /// writer is not blocked or ended by SIGPIPE and its exit status stays meaningful.
    func readToEnd(limit: Int) throws(IngestError) -> [UInt8] {
        var bytes: [UInt8] = []
        repeat {
            assert(bytes.count <= limit, "no more bytes are kept than the limit")
            bytes.append(contentsOf: buffer[start..<start + min(end - start, limit - bytes.count)])
            start = end
        } while try fill()
        return bytes
    }

    /// Reads once into the empty buffer; false at the end of the input and after `close`.
    private func fill() throws(IngestError) -> Bool {
        guard !isClosed else { return false }
        assert(start == end, "what was read is taken before more is read")
        while true {
            let count = SystemCall.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 {
                start = 0
                end = count
                return count > 0
            }
            if errno != EINTR {
                let reason = String(cString: strerror(errno))
                throw IngestError(.io, operation: "read from git", object: "", reason: reason)
            }
        }
    }
}
