#if canImport(Glibc)
import Glibc
#endif

/// Gives the pages behind a walk over a mapped file back, so that a walk over a large file leaves few of them in the memory of the
/// process. The system keeps them with its other pages of files, and whoever reads them again gets them again: it changes no
/// result. Does nothing but on Linux.
///
/// Only for bytes that one read transaction lends: these lie in one map, and so does all between them. Memory that is no file's
/// would lose its contents.
struct MapRelease {
    /// The pages of so many bytes are given back at a time. A walk in the order of sequences goes back and forth by less, since
    /// pages that commits freed are used again.
    private static let stretchBytes: UInt = 4 << 20
    /// Less is not worth a call of the system.
    private static let restBytes: UInt = 1 << 20
    /// The system maps up to so much around a page that is read, as far as it has that in one piece.
    private static let aroundBytes: UInt = 2 << 20

    /// Addresses from a first byte to the end of a last one.
    private struct Stretch {
        var start: UInt
        var end: UInt
    }

    /// Where the walk is.
    private var current = Stretch(start: 0, end: 0)
    /// The stretch before, whose bytes another thread may still be reading.
    private var before = Stretch(start: 0, end: 0)
    /// All that the walk passed.
    private var hull = Stretch(start: .max, end: 0)

    /// Takes the next bytes of the walk.
    @inline(__always)
    mutating func pass(_ bytes: UnsafeRawBufferPointer) {
        let address = UInt(bitPattern: bytes.baseAddress)
        if address &- current.start >= Self.stretchBytes { leave(for: address) }
        current.end = max(current.end, address &+ UInt(bitPattern: bytes.count))
    }

    /// Extends the stretch back to an address a little before it, or begins the next one there.
    @inline(never)
    private mutating func leave(for address: UInt) {
        if address < current.start, current.end &- address <= Self.stretchBytes {
            current.start = address
            return
        }
        note()
        release(before)
        before = current
        current = Stretch(start: address, end: address)
    }

    /// Ends the walk.
    mutating func finish() {
        note()
        release(before)
        if current.end > current.start, current.end - current.start >= Self.restBytes { release(current) }
    }

    /// Adds the current stretch to what the walk passed.
    private mutating func note() {
        guard current.end > current.start else { return }
        hull = Stretch(start: min(hull.start, current.start), end: max(hull.end, current.end))
    }

    /// Gives the whole pages of a stretch back, and those around its ends as far as the walk has passed them.
    private func release(_ stretch: Stretch) {
        #if canImport(Glibc)
        guard stretch.start < stretch.end else { return }
        let page = UInt(bitPattern: sysconf(Int32(_SC_PAGESIZE)))
        let start = max(stretch.start & ~(Self.aroundBytes - 1), hull.start)
        let end = min((stretch.end &+ Self.aroundBytes &- 1) & ~(Self.aroundBytes - 1), hull.end)
        let first = (start &+ page &- 1) & ~(page &- 1)
        let last = end & ~(page &- 1)
        guard first < last, let address = UnsafeMutableRawPointer(bitPattern: first) else { return }
        madvise(address, Int(bitPattern: last - first), MADV_DONTNEED)
        #endif
    }
}
