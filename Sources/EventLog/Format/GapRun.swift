/// One value of the table `gaps`: a run of events that the log has dropped, with what remains of them.
///
/// ```
/// u8 level ‖ u32 rewrite ‖ i64 clock ‖ 32-byte hashes ‖ checksum
/// ```
///
/// Level 0: the leaf hashes of the run, at most 126, so that a value fits a page. Any other level: the hash of one
/// aligned subtree of 2^level leaves. `rewrite` counts from 1 the rewrites that dropped events, and leads to the act
/// that names them (`meta`, `acts`). `clock` is the greatest `recordedAt` of the run's remote changes, in microseconds.
///
/// In a part of a log (`meta`, `part`), `rewrite` 0 marks events that the part never had: one hash, of a subtree within
/// one tree node.
struct GapRun: Equatable {
    /// 13 bytes, 126 hashes and the checksum: 4,053 bytes, which fit one page of 4 KiB with its header.
    static let hashCountMax = 126
    /// The number of no rewrite: the log is a part and lacks these events.
    static let missing: UInt32 = 0

    /// The first sequence of the run; the key in the table.
    let first: UInt64
    let level: UInt8
    let rewrite: UInt32
    let clock: Int64
    let hashes: [Hash256]

    /// The number of events that the run covers.
    var count: UInt64 {
        level == 0 ? UInt64(hashes.count) : 1 << UInt64(level)
    }

    var last: UInt64 { first + count - 1 }

    /// Whether the run may mark events that a part lacks: one hash, of an aligned subtree within one tree node, without
    /// a clock.
    var isWellFormedMissing: Bool {
        rewrite == Self.missing && hashes.count == 1 && Int(level) <= TreeNode.level && clock == Clock.none
            && (first - 1).isMultiple(of: count)
    }

    init(first: UInt64, level: UInt8 = 0, rewrite: UInt32, clock: Int64, hashes: [Hash256]) {
        self.first = first
        self.level = level
        self.rewrite = rewrite
        self.clock = clock
        self.hashes = hashes
    }

    /// The stored value without its checksum.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(level)
        writer.write(rewrite)
        writer.write(clock)
        for hash in hashes { writer.write(hash) }
        return writer.bytes
    }

    /// Reads a value whose checksum matches; `nil` if it is not a run.
    init?(first: UInt64, _ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        // This bound of the level and the last guard keep `count` and `last` within 64 bits.
        guard first > 0, let level = reader.number(UInt8.self), level < 48,
            let rewrite = reader.number(UInt32.self), let clock = reader.number(Int64.self)
        else { return nil }
        var hashes: [Hash256] = []
        while let hash = reader.hash() { hashes.append(hash) }
        guard reader.isAtEnd, (1...(level == 0 ? Self.hashCountMax : 1)).contains(hashes.count) else { return nil }
        self.init(first: first, level: level, rewrite: rewrite, clock: clock, hashes: hashes)
        guard first <= .max - count else { return nil }
    }
}

extension GapRun {
    /// The run, of level 0, with one more event at its end.
    func extended(by hash: Hash256, clock other: Int64) -> GapRun {
        assert(level == 0 && hashes.count < Self.hashCountMax, "a run of leaf hashes fits a page")
        return GapRun(first: first, rewrite: rewrite, clock: max(clock, other), hashes: hashes + [hash])
    }
}
