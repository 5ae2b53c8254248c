import EventLog

/// A long array of small values without references, in pages of 1024 elements. Elements are never removed.
///
/// A value: copies share their pages, and changing an element copies one page, so a copied state does not copy millions
/// of cells at its next change. Growing never moves an element.
struct Pages<Element: BitwiseCopyable & Sendable>: Sendable {
    /// The bits of an index that select the element in its page. Computed, as a generic type has no stored static
    /// properties.
    private static var shift: Int { 10 }
    private static var size: Int { 1 << shift }

    private var pages: [[Element]] = []
    private(set) var count = 0

    init() {}

    mutating func append(_ element: Element) {
        if count & (Self.size - 1) == 0 {
            pages.append([])
            pages[pages.count - 1].reserveCapacity(Self.size)
        }
        pages[pages.count - 1].append(element)
        count += 1
        assert(pages.count == (count + Self.size - 1) >> Self.shift, "every page but the last is full")
    }

    /// Traps for an index that is not below `count`. Changes in place.
    subscript(index: Int) -> Element {
        @inline(__always) get { pages[index >> Self.shift][index & (Self.size - 1)] }
        @inline(__always) _modify { yield &pages[index >> Self.shift][index & (Self.size - 1)] }
    }

    /// Asks the processor for an element that is read soon.
    @inline(__always)
    func prefetch(_ index: Int) {
        pages[index >> Self.shift].withUnsafeBytes { page in
            let start = (index & (Self.size - 1)) * MemoryLayout<Element>.stride
            UnsafeRawBufferPointer(rebasing: page[start..<start + MemoryLayout<Element>.stride]).prefetch()
        }
    }

    /// Lends the elements' bytes, page by page.
    func forEachPage(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        for page in pages { try page.withUnsafeBytes(body) }
    }
}
