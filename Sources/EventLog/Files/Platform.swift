#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Blocks the thread. Only for short waits for another process or thread.
func pause(milliseconds: Int) {
    pause(microseconds: milliseconds * 1000)
}

/// Blocks the thread for microseconds.
func pause(microseconds: Int) {
    usleep(UInt32(clamping: microseconds))
}

/// Lets other threads that wait for this processor run.
func yieldProcessor() {
    sched_yield()
}

/// Appends `step` bytes of zeros, not synced, if a file is shorter than `byteCount`.
///
/// Page by page: Linux keeps what one call writes in one piece of its cache, and takes the whole piece for written again
/// with each page of it that a commit overwrites.
///
/// - Returns: whether the file was long enough or all zeros were written.
func extendFile(_ descriptor: Int32, to byteCount: UInt64, step: Int) -> Bool {
    var file = stat()
    guard fstat(descriptor, &file) == 0 else { return false }
    if UInt64(clamping: file.st_size) >= byteCount { return true }
    let zeros = [UInt8](repeating: 0, count: min(step, 4_096))
    return stride(from: 0, to: step, by: zeros.count).allSatisfy { start in
        let count = min(zeros.count, step - start)
        return pwrite(descriptor, zeros, count, file.st_size + off_t(start)) == count
    }
}

/// Random bytes from the operating system. If `getentropy` fails, they come from Swift's system generator.
func systemRandomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let isFilled = bytes.withUnsafeMutableBytes { buffer in
        // One call of `getentropy` gives at most 256 bytes.
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
