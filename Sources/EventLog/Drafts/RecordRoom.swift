import Synchronization

/// Records one after another in one piece of memory, which grows.
///
/// `@unchecked Sendable` is right because `DraftBatch` grows it only while it holds the sole reference. Once it is
/// shared it no longer grows, and only the log that claimed it writes, into bytes that nobody reads but `copy`.
final class RecordRoom: @unchecked Sendable {
    /// Owned by this object. Bytes from `count` on are not initialized.
    private var memory: UnsafeMutableRawBufferPointer
    /// How many bytes are filled.
    private(set) var count = 0
    /// Set by the first log that claims the room, for ever.
    private let isClaimed = Atomic(false)

    private static let byteCountMin = 1024

    init() {
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        memory.deallocate()
    }

    /// How many bytes fit without growing.
    var capacity: Int { memory.count }

    /// The filled bytes, valid until the room grows or ends.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(filled) }

    /// The filled bytes, for what a log adds to the records.
    var filled: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: memory[..<count]) }

    /// Ensures capacity for `byteCount` more bytes; at least doubles the memory if it has to grow.
    func reserve(_ byteCount: Int) {
        guard count + byteCount > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(count + byteCount, memory.count * 2, Self.byteCountMin),
            alignment: 8
        )
        larger.copyMemory(from: bytes)
        memory.deallocate()
        memory = larger
    }

    /// Room for `byteCount` more bytes, which the caller must fill; valid until the next call.
    func extend(by byteCount: Int) -> UnsafeMutableRawBufferPointer {
        reserve(byteCount)
        assert(byteCount >= 0 && count + byteCount <= memory.count, "reserved bytes fit")
        defer { count += byteCount }
        return UnsafeMutableRawBufferPointer(rebasing: memory[count..<count + byteCount])
    }

    /// The same records in memory of their own. Salts and leaf hashes that a log is writing meanwhile are copied in any
    /// state: the log that claims the copy writes them anew.
    func copy() -> RecordRoom {
        let copy = RecordRoom()
        copy.extend(by: count).copyMemory(from: bytes)
        return copy
    }

    /// The room itself for the first log that claims it, a copy for every later one.
    func claimed() -> RecordRoom {
        isClaimed.exchange(true, ordering: .acquiringAndReleasing) ? copy() : self
    }
}
