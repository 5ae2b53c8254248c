/// Where the keys of held events are: hashes of (source, key) to sequences, in memory, rebuilt from the log.
///
/// Open addressing with linear probing. A hash may stand several times; whoever asks compares the records themselves.
struct KeyIndex {
    private struct Slot {
        var hash: UInt64 = 0
        /// Zero where the slot is free: no event has sequence zero.
        var sequence: UInt64 = 0
    }

    private var slots: [Slot]
    private(set) var count = 0

    init(capacity: Int = 1024) {
        slots = Array(repeating: Slot(), count: max(1024, (capacity * 2).nextPowerOfTwo))
    }

    /// Calls `body` with each sequence whose key has the hash until it answers with something.
    func first<Result>(of hash: UInt64, _ body: (UInt64) throws -> Result?) rethrows -> Result? {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while slots[place].sequence != 0 {
            if slots[place].hash == hash, let result = try body(slots[place].sequence) { return result }
            place = (place + 1) & mask
        }
        return nil
    }

    mutating func insert(_ hash: UInt64, _ sequence: UInt64) {
        if (count + 1) * 10 > slots.count * 7 { grow() }
        place(Slot(hash: hash, sequence: sequence))
        count += 1
    }

    /// Takes out an entry that was put in for a batch that came to nothing.
    mutating func remove(_ hash: UInt64, _ sequence: UInt64) {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while slots[place].sequence != 0, slots[place].hash != hash || slots[place].sequence != sequence {
            place = (place + 1) & mask
        }
        guard slots[place].sequence != 0 else { return }
        count -= 1
        closeHole(at: place)
    }

    /// Moves later entries of the same chain forward, so that no probe ends too early.
    private mutating func closeHole(at start: Int) {
        let mask = slots.count - 1
        var hole = start
        var place = (hole + 1) & mask
        while slots[place].sequence != 0 {
            let home = Int(truncatingIfNeeded: slots[place].hash) & mask
            if (place - home) & mask >= (place - hole) & mask {
                slots[hole] = slots[place]
                hole = place
            }
            place = (place + 1) & mask
        }
        slots[hole] = Slot()
    }

    private mutating func place(_ slot: Slot) {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: slot.hash) & mask
        while slots[place].sequence != 0 { place = (place + 1) & mask }
        slots[place] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(), count: old.count * 2)
        for slot in old where slot.sequence != 0 { place(slot) }
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
