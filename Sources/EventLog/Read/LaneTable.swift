import Synchronization

/// Interns the lanes of one log: equal lanes become the same object, so that identity tells lanes apart. Keeps every
/// lane.
final class LaneInterner: Sendable {
    /// By the bytes of a lane. Never shrinks, so that an object stands for its lane for ever.
    private let known = Mutex<[[UInt8]: Lane]>([:])

    func lane(source: SourceName, kind: EventKind, attributes: Attributes) -> Lane {
        intern(Lane(source: source, kind: kind, attributes: attributes))
    }

    func intern(_ lane: Lane) -> Lane {
        let bytes = lane.bytes
        return known.withLock { known in
            if let same = known[bytes] { return same }
            known[bytes] = lane
            return lane
        }
    }
}

/// The lanes of one generation by number, each decoded once.
///
/// Lanes are only added, so those read in one transaction are valid in every later one.
final class LaneTable: Sendable {
    private struct State {
        /// The index is the number of the lane.
        var lanes: [Lane] = []
        /// The numbers by interned object. The interner keeps all lanes, so no object gets the identity of an earlier
        /// one.
        var numbers: [ObjectIdentifier: UInt32] = [:]
    }

    private let interner: LaneInterner
    /// Held for look-ups and additions only, never while the table is read.
    private let state = Mutex(State())

    init(interner: LaneInterner) {
        self.interner = interner
    }

    /// All lanes known so far, by number.
    var known: [Lane] { state.withLock { $0.lanes } }

    /// How many lanes are known.
    var count: UInt32 { state.withLock { UInt32(clamping: $0.lanes.count) } }

    /// The number of an interned lane; `nil` if it is not known to be committed.
    func number(of lane: Lane) -> UInt32? {
        state.withLock { $0.numbers[ObjectIdentifier(lane)] }
    }

    /// Reads the lanes of the table that are not known yet.
    ///
    /// - Throws: `EventLogError` with code `damaged` if a value is not a lane or a number is missing.
    func load(from reader: LogReader) throws {
        var next = count
        var loaded: [Lane] = []
        var cursor = try Cursor(reader.view, reader.tables.lanes)
        var found = try cursor.seek(atLeast: next)
        while found {
            guard cursor.key.count == 4, cursor.key.bigEndian(as: UInt32.self) == next,
                let value = Checksum.opened(cursor.value, table: "lanes", key: cursor.key), let lane = Lane(value)
            else { throw reader.damaged("lane \(next) is missing or is not as it was written") }
            loaded.append(interner.intern(lane))
            next += 1
            found = try cursor.advance()
        }
        accept(loaded, before: next)
    }

    /// Adds the lanes whose numbers end before `end`, as far as they are not known yet.
    private func accept(_ loaded: [Lane], before end: UInt32) {
        state.withLock { state in
            // Another thread may have added the same lanes meanwhile, or more.
            let missing = Int(end) - state.lanes.count
            assert(missing <= loaded.count, "lanes are only added")
            for lane in loaded.suffix(max(0, missing)) {
                state.numbers[ObjectIdentifier(lane)] = UInt32(state.lanes.count)
                state.lanes.append(lane)
            }
        }
    }
}

/// Looks up lanes by number during a walk over events, which mostly have the same few lanes.
struct LaneLookup {
    private let reader: LogReader
    /// A copy of the table's lanes, so that a lookup takes no lock.
    private var known: [Lane]
    /// The lane of the last lookup, which is mostly that of the next one.
    private var lastNumber: UInt32 = .max
    /// Valid while `reader` is: its `LaneTable` drops no lane.
    private var last: Unmanaged<Lane>?

    init(_ reader: LogReader) {
        self.reader = reader
        known = reader.lanes.known
    }

    @inline(__always)
    mutating func lane(_ number: UInt32) throws -> Lane {
        try reference(number).takeUnretainedValue()
    }

    /// The lane, without a reference count: the generation's `LaneTable` keeps it alive.
    @inline(__always)
    mutating func reference(_ number: UInt32) throws -> Unmanaged<Lane> {
        if number == lastNumber, let last { return last }
        return try find(number)
    }

    @inline(never)
    private mutating func find(_ number: UInt32) throws -> Unmanaged<Lane> {
        if Int(number) >= known.count {
            _ = try reader.lane(number)
            known = reader.lanes.known
        }
        assert(Int(number) < known.count, "a lane that was found is known")
        let reference = Unmanaged.passUnretained(known[Int(number)])
        lastNumber = number
        last = reference
        return reference
    }
}
