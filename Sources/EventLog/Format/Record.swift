/// One value of the table `events`, or one part of a `SealedBlock`: everything of an event but its sequence, which is the key (I2).
///
/// ```
/// u8 1 ‖ u8 state ‖ u32 lane ‖ i64 recordedAt ‖ u8 key length ‖ 32 leaf hash
///     ‖ 16 salt (state 0) or 32 commitment (state 1) ‖ key ‖ payload
/// ```
///
/// A key length of zero means no key. `init?` accepts damaged bytes: no offset that it keeps lies outside the value. A
/// record borrows its bytes and must not outlive them.
struct Record {
    static let version: UInt8 = 1
    static let saltBytes = 16
    /// Everything before the salt or commitment.
    static let fixedBytes = 47

    let bytes: UnsafeRawBufferPointer
    let holding: EventHolding
    /// The number in the table `lanes`; 0 in the record of a draft, which has none yet.
    let laneNumber: UInt32
    private let keyStart: Int
    private let payloadStart: Int

    /// Finds the parts; `nil` if the bytes are not a record.
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.fixedBytes + Self.saltBytes, bytes[0] == Self.version else { return nil }
        let isRedacted = bytes[1] == EventHolding.redacted.rawValue
        guard isRedacted || bytes[1] == EventHolding.whole.rawValue else { return nil }
        self.bytes = bytes
        holding = isRedacted ? .redacted : .whole
        laneNumber = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
        keyStart = Self.fixedBytes + (isRedacted ? 32 : Self.saltBytes)
        payloadStart = keyStart + Int(bytes[14])
        guard payloadStart <= bytes.count else { return nil }
    }

    /// A record that `write` wrote in this process. Nothing is checked.
    @inline(__always)
    init(written bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        holding = .whole
        laneNumber = 0
        keyStart = Self.fixedBytes + Self.saltBytes
        payloadStart = keyStart + Int(bytes[14])
        assert(payloadStart <= bytes.count, "a written record holds its key")
    }

    /// Microseconds since 1970.
    var recordedAt: Int64 {
        Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 6, as: Int64.self))
    }

    /// The leaf hash as stored; nothing shows that it fits the bytes.
    var leafHash: Hash256 {
        hash(at: 15)
    }

    /// The key's bytes, or `nil`.
    var key: UnsafeRawBufferPointer? {
        keyStart == payloadStart ? nil : UnsafeRawBufferPointer(rebasing: bytes[keyStart..<payloadStart])
    }

    /// The payload; the substitute if the event is redacted.
    var payload: UnsafeRawBufferPointer {
        @inline(__always) get { UnsafeRawBufferPointer(rebasing: bytes[payloadStart...]) }
    }

    /// The salt of a whole event, or `nil`.
    var salt: UnsafeRawBufferPointer? {
        holding == .whole ? secret : nil
    }

    /// The salt of a whole event, the commitment of a redacted one. It stands before the key.
    var secret: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[Self.fixedBytes..<keyStart]) }

    /// The commitment: computed if the event is whole, stored if it is redacted.
    var commitment: Hash256 {
        guard let salt else { return hash(at: Self.fixedBytes) }
        return LeafHash.commitment(salt: salt, payload: payload)
    }

    /// The leaf hash, computed anew from the bytes that it covers.
    func recomputedLeafHash(in lane: Lane) -> Hash256 {
        LeafHash.hash(recordedAt: recordedAt, lane: lane, key: key, commitment: commitment)
    }

    private func hash(at offset: Int) -> Hash256 {
        guard let start = bytes.baseAddress, bytes.count >= offset + 32 else { return .zero }
        return Hash256(loading: start + offset)
    }
}

extension Record {
    /// The size in bytes of a draft's record.
    static func byteCount(of draft: DraftEvent) -> Int {
        byteCount(keyBytes: draft.key?.rawValue.utf8.count ?? 0, payloadBytes: draft.payload.count)
    }

    static func byteCount(keyBytes: Int, payloadBytes: Int) -> Int {
        fixedBytes + saltBytes + keyBytes + payloadBytes
    }

    /// Writes the record of a draft into room of exactly its size. Lane number, leaf hash and salt are left zero. An
    /// empty key means none. Traps on a key of more than 255 bytes.
    @inline(__always)
    static func write(
        to room: UnsafeMutableRawBufferPointer,
        recordedAt: Timestamp,
        key: UnsafeRawBufferPointer,
        payload: UnsafeRawBufferPointer
    ) {
        let start = fixedBytes + saltBytes
        precondition(key.count <= Int(UInt8.max), "the length of a key has 8 bits")
        assert(room.count == start + key.count + payload.count, "a record fills its room")
        UnsafeMutableRawBufferPointer(rebasing: room[..<start]).initializeMemory(as: UInt8.self, repeating: 0)
        room.storeBytes(of: version, as: UInt8.self)
        room.storeBytes(of: EventHolding.whole.rawValue, toByteOffset: 1, as: UInt8.self)
        room.storeBytes(of: recordedAt.microseconds.bigEndian, toByteOffset: 6, as: Int64.self)
        room.storeBytes(of: UInt8(clamping: key.count), toByteOffset: 14, as: UInt8.self)
        UnsafeMutableRawBufferPointer(rebasing: room[start...]).copyMemory(from: key)
        UnsafeMutableRawBufferPointer(rebasing: room[(start + key.count)...]).copyMemory(from: payload)
    }

    /// Writes a whole record into room of exactly its size.
    ///
    /// - Parameters:
    ///   - holding: `whole` or `redacted`.
    ///   - hash: the 32 bytes of the leaf hash.
    ///   - secret: as `secret` of the record.
    ///   - key: of at most 255 bytes; empty means none.
    static func write(
        to room: UnsafeMutableRawBufferPointer,
        holding: EventHolding,
        lane: UInt32,
        recordedAt: Int64,
        hash: UnsafeRawBufferPointer,
        secret: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer,
        payload: UnsafeRawBufferPointer
    ) {
        let keyStart = fixedBytes + secret.count
        assert(hash.count == 32 && room.count == keyStart + key.count + payload.count, "a record fills its room")
        room.storeBytes(of: version, as: UInt8.self)
        room.storeBytes(of: holding.rawValue, toByteOffset: 1, as: UInt8.self)
        room.storeBytes(of: lane.bigEndian, toByteOffset: 2, as: UInt32.self)
        room.storeBytes(of: recordedAt.bigEndian, toByteOffset: 6, as: Int64.self)
        room.storeBytes(of: UInt8(clamping: key.count), toByteOffset: 14, as: UInt8.self)
        UnsafeMutableRawBufferPointer(rebasing: room[15...]).copyMemory(from: hash)
        UnsafeMutableRawBufferPointer(rebasing: room[fixedBytes...]).copyMemory(from: secret)
        UnsafeMutableRawBufferPointer(rebasing: room[keyStart...]).copyMemory(from: key)
        UnsafeMutableRawBufferPointer(rebasing: room[(keyStart + key.count)...]).copyMemory(from: payload)
    }

    /// Fills in what `write` left open. The offsets are those of the layout above.
    @inline(__always)
    static func setLane(_ number: UInt32, in room: UnsafeMutableRawBufferPointer) {
        room.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt32.self)
    }

    static func setSalt(_ salt: UnsafeRawBufferPointer, in room: UnsafeMutableRawBufferPointer) {
        assert(salt.count == saltBytes, "a salt replaces all zeros that were left for it")
        UnsafeMutableRawBufferPointer(rebasing: room[fixedBytes..<fixedBytes + saltBytes]).copyMemory(from: salt)
    }

    static func setLeafHash(_ hash: Hash256, in room: UnsafeMutableRawBufferPointer) {
        hash.withBytes { UnsafeMutableRawBufferPointer(rebasing: room[15..<47]).copyMemory(from: $0) }
    }
}

extension Record {
    /// The bytes of the record with a substitute in place of the payload, the salt gone and the commitment kept.
    func redacted(with substitute: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(EventHolding.redacted.rawValue)
        writer.write(laneNumber)
        writer.write(recordedAt)
        writer.write(UInt8(clamping: key?.count ?? 0))
        writer.write(leafHash)
        writer.write(commitment)
        if let key { writer.write(key) }
        writer.write(substitute)
        return writer.bytes
    }
}
