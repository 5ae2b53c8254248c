import Synchronization

/// Records one behind the other in one piece of memory, which grows.
///
/// Whoever fills it is alone with it. It may be shared once it is full; then one of those who share it may write what a
/// log adds to the records, which no other reads.
final class RecordRoom: @unchecked Sendable {
    private var memory: UnsafeMutableRawBufferPointer
    /// The bytes that are filled.
    private(set) var count = 0
    private let isClaimed = Atomic(false)

    private static let byteCountMin = 1024

    init() {
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        memory.deallocate()
    }

    /// How many bytes find room without growing.
    var capacity: Int { memory.count }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(filled) }

    /// What a log adds to the records is written here.
    var filled: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: memory[..<count]) }

    /// Sees to it that so many bytes more find room.
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

    /// So many bytes more.
    func extend(by byteCount: Int) -> UnsafeMutableRawBufferPointer {
        reserve(byteCount)
        defer { count += byteCount }
        return UnsafeMutableRawBufferPointer(rebasing: memory[count..<count + byteCount])
    }

    /// The same records elsewhere. What a log is writing into them meanwhile is copied in any state: whoever claims the copy
    /// writes it anew.
    func copy() -> RecordRoom {
        let copy = RecordRoom()
        copy.extend(by: count).copyMemory(from: bytes)
        return copy
    }

    /// The room itself for the first log that asks, a copy for every later one.
    func claimed() -> RecordRoom {
        isClaimed.exchange(true, ordering: .acquiringAndReleasing) ? copy() : self
    }
}
