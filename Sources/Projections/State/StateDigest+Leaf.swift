import EventLog

extension StateDigest {
    /// A row's key, and the hash over both: SHA-256(0x00 ‖ key ‖ row).
    struct Leaf: Sendable, BitwiseCopyable {
        let key: Hash256
        let hash: Hash256

        fileprivate init(key: Hash256, hash: Hash256) {
            self.key = key
            self.hash = hash
        }

        /// - Parameter row: the hash of the row's canonical text.
        init(key: Hash256, row: Hash256) {
            self.key = key
            // Every byte of the room is written before it is read.
            hash = withUnsafeTemporaryAllocation(byteCount: 65, alignment: 8) { room in
                room[0] = 0
                key.store(to: room, at: 1)
                row.store(to: room, at: 33)
                return Hasher256.hash(UnsafeRawBufferPointer(room))
            }
        }
    }
}

extension StateDigest {
    /// A change of one row. States the row as it is then, so applying it twice changes nothing.
    struct Change: Sendable, BitwiseCopyable {
        let key: Hash256
        /// The hash of the row's leaf; `nil` removes the row, if it exists.
        let hash: Hash256?

        init(_ leaf: Leaf) {
            key = leaf.key
            hash = leaf.hash
        }

        init(key: Hash256, row: Hash256?) {
            self.key = key
            hash = row.map { Leaf(key: key, row: $0).hash }
        }
    }

    mutating func apply(_ change: Change) {
        if let hash = change.hash { set(Leaf(key: change.key, hash: hash)) } else { remove(change.key) }
    }
}

/// The bytes that a branch is hashed over, in temporary memory that `hash` lends: 0x01, the map (2 bytes, big-endian),
/// 32 bytes for each child. Must not leave the closure.
struct BranchText {
    private let room: UnsafeMutableRawBufferPointer
    private var map: UInt16 = 0
    /// The next child's offset: behind the first byte and the map, which come last.
    private var end = 3

    private init(_ room: UnsafeMutableRawBufferPointer) {
        self.room = room
    }

    /// The hash of the branch whose children `body` adds, in the order of their slots. Reads only the bytes that were
    /// written.
    @inline(__always)
    static func hash(_ body: (inout BranchText) -> Void) -> Hash256 {
        withUnsafeTemporaryAllocation(byteCount: 3 + 16 * 32, alignment: 8) { room in
            var text = BranchText(room)
            body(&text)
            room[0] = 1
            room[1] = UInt8(text.map >> 8)
            room[2] = UInt8(text.map & 0xFF)
            return Hasher256.hash(UnsafeRawBufferPointer(rebasing: room[..<text.end]))
        }
    }

    /// Adds a child. Slots must come in ascending order, each once.
    @inline(__always)
    mutating func add(_ hash: Hash256, _ slot: Int) {
        assert(map & (Self.bit(slot) &* 2 &- 1) == 0, "children come in the order of their slots, each once")
        precondition(end &+ 32 <= room.count, "a branch has at most sixteen children")
        map |= Self.bit(slot)
        hash.store(to: room, at: end)
        end &+= 32
    }

    /// The bit of a child in the map: the first one is the highest.
    @inline(__always)
    static func bit(_ slot: Int) -> UInt16 { 0x8000 &>> UInt16(truncatingIfNeeded: slot) }
}

extension Hash256 {
    /// Stores the 32 bytes of the hash. `words` are big-endian readings of them; `storeBytes` needs no alignment. The
    /// caller makes sure that the room has 32 bytes from the offset.
    @inline(__always)
    fileprivate func store(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
        room.storeBytes(of: words.0.bigEndian, toByteOffset: offset, as: UInt64.self)
        room.storeBytes(of: words.1.bigEndian, toByteOffset: offset &+ 8, as: UInt64.self)
        room.storeBytes(of: words.2.bigEndian, toByteOffset: offset &+ 16, as: UInt64.self)
        room.storeBytes(of: words.3.bigEndian, toByteOffset: offset &+ 24, as: UInt64.self)
    }
}
