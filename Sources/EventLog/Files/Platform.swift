#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Gives up the processor for a while; used only where another process or thread must get on first.
func pause(milliseconds: Int) {
    pause(microseconds: milliseconds * 1000)
}

/// The same, for a shorter while.
func pause(microseconds: Int) {
    usleep(UInt32(clamping: microseconds))
}

/// Lets other threads of this processor run, where any wait for it.
func yieldProcessor() {
    sched_yield()
}

/// Writes zeros behind a file's end where it is shorter than so many bytes: a step of them, not synced.
///
/// - Returns: whether the file is long enough now.
func extendFile(_ descriptor: Int32, to byteCount: UInt64, step: Int) -> Bool {
    var file = stat()
    guard fstat(descriptor, &file) == 0 else { return false }
    if UInt64(clamping: file.st_size) >= byteCount { return true }
    let zeros = [UInt8](repeating: 0, count: step)
    return pwrite(descriptor, zeros, step, file.st_size) == step
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
