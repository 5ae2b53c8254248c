#if canImport(Glibc)
import Glibc
#endif

/// Gives the pages behind a walk over a mapped file back, so that a walk over a large file leaves few of them in the memory of the
/// process. The system keeps them with its other pages of files, and whoever reads them again gets them again: it changes no
/// result. Does nothing but on Linux.
///
/// Only for bytes that a read transaction lends: these lie in the map. Memory that is no file's would lose its contents.
struct MapRelease {
    /// The pages of so many bytes are given back at a time.
    private static let stretchBytes: UInt = 4 << 20
    /// Less is not worth a call of the system.
    private static let restBytes: UInt = 1 << 20

    /// The stretch that the walk is in: from its first byte to the end of the last bytes passed.
    private var start: UInt = 0
    private var end: UInt = 0
    /// The one before, whose bytes another thread may still be reading.
    private var before: (start: UInt, end: UInt) = (0, 0)

    /// Takes the next bytes of the walk.
    @inline(__always)
    mutating func pass(_ bytes: UnsafeRawBufferPointer) {
        let address = UInt(bitPattern: bytes.baseAddress)
        if address &- start >= Self.stretchBytes { turn(to: address) }
        end = address &+ UInt(bitPattern: bytes.count)
    }

    /// Begins the next stretch.
    @inline(never)
    private mutating func turn(to address: UInt) {
        Self.release(before)
        before = (start, end)
        start = address
    }

    /// Ends the walk.
    func finish() {
        Self.release(before)
        if end > start, end - start >= Self.restBytes { Self.release((start, end)) }
    }

    /// Both ends lie in one map, and so does all between them.
    private static func release(_ stretch: (start: UInt, end: UInt)) {
        #if canImport(Glibc)
        let page = UInt(bitPattern: sysconf(Int32(_SC_PAGESIZE)))
        let first = (stretch.start &+ page &- 1) & ~(page &- 1)
        let last = stretch.end & ~(page &- 1)
        guard first < last, let address = UnsafeMutableRawPointer(bitPattern: first) else { return }
        madvise(address, Int(bitPattern: last - first), MADV_DONTNEED)
        #endif
    }
}
