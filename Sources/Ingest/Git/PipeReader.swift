#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads a file descriptor through a buffer: lines, runs up to a byte, exact counts. Owns the descriptor.
///
/// Used by one thread at a time.
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

    /// The next byte without taking it; `nil` at the end.
    func peek() throws(IngestError) -> UInt8? {
        if start == end, try !fill() { return nil }
        return buffer[start]
    }

    /// The bytes up to a terminator, which is taken and left out; `nil` where the input ends before it.
    func read(upTo terminator: UInt8) throws(IngestError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            if start == end, try !fill() { return nil }
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

    /// Exactly so many bytes; `nil` where the input ends before.
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

    /// Passes over so many bytes; false where the input ends before.
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

    /// All bytes up to the end, at most `limit`; what is beyond is read and dropped.
    func readToEnd(limit: Int) throws(IngestError) -> [UInt8] {
        var bytes: [UInt8] = []
        repeat {
            bytes.append(contentsOf: buffer[start..<start + min(end - start, limit - bytes.count)])
            start = end
        } while try fill()
        return bytes
    }

    private func fill() throws(IngestError) -> Bool {
        guard !isClosed else { return false }
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
