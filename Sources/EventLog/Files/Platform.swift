#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Gives up the processor for a while; used only where another process or thread must get on first.
func pause(milliseconds: Int) {
    usleep(UInt32(clamping: milliseconds * 1000))
}

/// Random bytes of the operating system.
func systemRandomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let isFilled = bytes.withUnsafeMutableBytes { buffer in
        stride(from: 0, to: count, by: 256).allSatisfy { start in
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<min(start + 256, count)])
            return getentropy(part.baseAddress, part.count) == 0
        }
    }
    if isFilled { return bytes }
    var generator = SystemRandomNumberGenerator()
    return bytes.map { _ in generator.next() }
}

/// The number of this process.
var processNumber: Int32 { getpid() }
