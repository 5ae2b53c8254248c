/// The hashes that prove an event (I7).
///
/// `commitment = SHA-256(salt ‖ payload)`; `leaf = 01 ‖ i64 recordedAt ‖ str source ‖ str kind ‖ opt key ‖ attributes ‖
/// commitment`, where `str` is a 16-bit length and bytes, `opt` is `00`, or `01` and a `str`, and attributes are a
/// 16-bit count and pairs of `str`; the leaf hash is `SHA-256(00 ‖ leaf)` (RFC 6962, section 2.1).
enum LeafHash {
    private static let leafVersion: UInt8 = 1

    /// The longest payload, in bytes, that is copied after its salt to be hashed by one call: each call has its price.
    private static let copiedBytesMax = 4096

    /// SHA-256(salt ‖ payload).
    static func commitment(salt: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer) -> Hash256 {
        if payload.count <= copiedBytesMax {
            let byteCount = salt.count + payload.count
            return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { buffer in
                var room = HashedRoom(buffer)
                room.append(salt)
                room.append(payload)
                return Hasher256.hash(room.filled)
            }
        }
        var hasher = Hasher256()
        hasher.update(salt)
        hasher.update(payload)
        return hasher.finalize()
    }

    /// The bytes that the leaf hash covers, after the `00` of RFC 6962.
    static func leaf(
        recordedAt: Int64,
        lane: Lane,
        key: UnsafeRawBufferPointer?,
        commitment: Hash256
    ) -> [UInt8] {
        var leaf = ByteWriter()
        leaf.write(leafVersion)
        leaf.write(recordedAt)
        leaf.write(lane.leafHead)
        if let key {
            leaf.write(1 as UInt8)
            leaf.write(UInt16(clamping: key.count))
            leaf.write(key)
        } else {
            leaf.write(0 as UInt8)
        }
        leaf.write(lane.leafAttributes)
        leaf.write(commitment)
        return leaf.bytes
    }

    /// The leaf hash. The same bytes as those of `leaf`, put together on the stack.
    static func hash(
        recordedAt: Int64,
        lane: Lane,
        key: UnsafeRawBufferPointer?,
        commitment: Hash256
    ) -> Hash256 {
        // 2 bytes for the prefix and the version, 8 for the time, at most 3 before the key, 32 for the commitment.
        let byteCount = 45 + lane.leafHead.count + (key?.count ?? 0) + lane.leafAttributes.count
        return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { buffer in
            var room = HashedRoom(buffer)
            // Big-endian: the prefix `00` of RFC 6962, then the version `01`.
            room.append(number: UInt16(leafVersion))
            room.append(number: UInt64(bitPattern: recordedAt))
            room.append(lane.leafHead)
            if let key {
                room.append(byte: 1)
                room.append(number: UInt16(clamping: key.count))
                room.append(key)
            } else {
                room.append(byte: 0)
            }
            room.append(lane.leafAttributes)
            commitment.withBytes { room.append($0) }
            return Hasher256.hash(room.filled)
        }
    }
}

/// Bytes put together on the stack to be hashed at once: a leaf after the `00` of RFC 6962, or a salt and a payload.
/// The buffer must have room for all that is appended.
private struct HashedRoom {
    private let room: UnsafeMutableRawBufferPointer
    private var count = 0

    init(_ room: UnsafeMutableRawBufferPointer) {
        self.room = room
    }

    var filled: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        assert(bytes.count <= room.count - count, "the room was made for all its parts")
        UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    @inline(__always)
    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    @inline(__always)
    mutating func append(byte: UInt8) {
        room[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func append<Number: FixedWidthInteger>(number: Number) {
        withUnsafeBytes(of: number.bigEndian) { append($0) }
    }
}
