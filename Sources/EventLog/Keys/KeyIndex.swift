/// Hashes of (source, key) with the sequences of their events, in memory.
///
/// Open addressing with linear probing. A hash may occur several times; callers compare the records themselves.
struct KeyIndex {
    /// A hash and its event. A free slot has sequence zero, which no event has (I1).
    struct Entry {
        var hash: UInt64 = 0
        var sequence: UInt64 = 0
    }

    /// The number of slots is a power of two. At least three tenths of them are free, so that every probe ends.
    private var slots: [Entry]
    private(set) var count = 0

    /// Makes an empty table that takes `capacity` entries without growing.
    init(capacity: Int = 1024) {
        slots = Array(repeating: Entry(), count: max(1024, (capacity * 2).nextPowerOfTwo))
        assert(slots.count & (slots.count - 1) == 0, "the table's mask needs a power of two")
    }

    /// Calls `body` with each sequence under the hash until `body` returns a result. The order is not that of the
    /// sequences.
    func first<Result>(of hash: UInt64, _ body: (UInt64) throws -> Result?) rethrows -> Result? {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while slots[place].sequence != 0 {
            if slots[place].hash == hash, let result = try body(slots[place].sequence) { return result }
            place = (place + 1) & mask
        }
        return nil
    }

    /// How many slots the searches for all entries pass over together: a measure of collisions, for tests (I26).
    var stepCount: Int {
        let mask = slots.count - 1
        return slots.indices.reduce(0) { sum, place in
            slots[place].sequence == 0 ? sum : sum + (place - Int(truncatingIfNeeded: slots[place].hash)) & mask
        }
    }

    /// All entries, ascending by hash and then by sequence.
    func sorted() -> [Entry] {
        slots.filter { $0.sequence != 0 }.sorted { ($0.hash, $0.sequence) < ($1.hash, $1.sequence) }
    }

    func forEachHash(_ body: (UInt64) -> Void) {
        for slot in slots where slot.sequence != 0 { body(slot.hash) }
    }

    mutating func insert(_ hash: UInt64, _ sequence: UInt64) {
        assert(sequence != 0, "sequence 0 marks a free slot")
        if (count + 1) * 10 > slots.count * 7 { grow() }
        assert(count + 1 < slots.count, "a free slot ends every probe")
        place(Entry(hash: hash, sequence: sequence))
        count += 1
    }

    /// Removes an entry, if it is there.
    mutating func remove(_ hash: UInt64, _ sequence: UInt64) {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while slots[place].sequence != 0, slots[place].hash != hash || slots[place].sequence != sequence {
            place = (place + 1) & mask
        }
        guard slots[place].sequence != 0 else { return }
        assert(count > 0, "a taken slot was counted")
        count -= 1
        closeHole(at: place)
    }

    /// Moves later entries of the same chain back into the hole, so that no probe ends too early.
    private mutating func closeHole(at start: Int) {
        let mask = slots.count - 1
        var hole = start
        var place = (hole + 1) & mask
        while slots[place].sequence != 0 {
            let home = Int(truncatingIfNeeded: slots[place].hash) & mask
            // An entry may move back into the hole unless its own slot (`home`) lies between the hole and it.
            if (place - home) & mask >= (place - hole) & mask {
                slots[hole] = slots[place]
                hole = place
            }
            place = (place + 1) & mask
        }
        slots[hole] = Entry()
    }

    private mutating func place(_ slot: Entry) {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: slot.hash) & mask
        while slots[place].sequence != 0 { place = (place + 1) & mask }
        slots[place] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Entry(), count: old.count * 2)
        for slot in old where slot.sequence != 0 { place(slot) }
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
