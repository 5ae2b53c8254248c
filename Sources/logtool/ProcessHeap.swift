#if canImport(Glibc)
import Glibc
#endif

/// The heap of the process: the memory that `malloc` hands out.
enum ProcessHeap {
    /// Has all threads share one heap, and asks for its first 12 MiB in huge pages. Call it once, before a second thread
    /// allocates. Does nothing but on Linux with glibc, and nothing where the environment sets the heap up. Changes no result
    /// (`docs/decisions/0032-the-heap-begins-in-huge-pages.md`).
    static func prepare() {
        #if canImport(Glibc)
        if settings.contains(where: { getenv($0) != nil }) { return }
        // Absent in a C library that is not glibc.
        guard let address = dlsym(nil, "mallopt") else { return }
        let set = unsafeBitCast(address, to: (@convention(c) (Int32, Int32) -> Int32).self)
        let start = sbrk(0)
        // glibc adapts these limits to a program until one of them is set. The values are the greatest that it adapts to:
        // large blocks lie in the heap, and what is freed stays there.
        _ = set(Option.mappedBlockBytes, 32 << 20)
        _ = set(Option.keptBytes, 64 << 20)
        _ = set(Option.heapCount, 1)
        // A block that does not fit the heap makes it grow by that block and the padding.
        _ = set(Option.growthBytes, hugeBytes)
        var block: UnsafeMutableRawPointer?
        if posix_memalign(&block, 4096, 256 << 10) == 0 { free(block) }
        _ = set(Option.growthBytes, 1 << 20)
        guard let start, let end = sbrk(0), start < end else { return }
        let first = start.alignedUp(toMultipleOf: 2 << 20)
        if first < end { madvise(first, end - first, MADV_HUGEPAGE) }
        #endif
    }

    #if canImport(Glibc)
    /// More would cost more memory than it saves time: the heap's last huge page is used only in part.
    private static let hugeBytes: Int32 = 12 << 20

    /// The variables by which glibc lets the environment set the heap up.
    private static let settings = [
        "GLIBC_TUNABLES", "MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_",
    ]

    /// glibc's options of the heap, by their numbers in `malloc.h`, which Swift's module of glibc leaves out.
    private enum Option {
        /// `M_TRIM_THRESHOLD`
        static let keptBytes: Int32 = -1
        /// `M_TOP_PAD`
        static let growthBytes: Int32 = -2
        /// `M_MMAP_THRESHOLD`
        static let mappedBlockBytes: Int32 = -3
        /// `M_ARENA_MAX`
        static let heapCount: Int32 = -8
    }
    #endif
}
