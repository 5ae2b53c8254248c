/// A draft with everything that can be computed before the write lock is taken.
struct PreparedEvent {
    let draft: DraftEvent
    let lane: Lane
    let salt: (UInt64, UInt64)
    let leafHash: Hash256
    /// The hash that the key index goes by; of no meaning where the draft has no key.
    let keyHash: UInt64

    /// Microseconds for the clock: acts do not move it.
    var clock: Int64 { lane.isAct ? Clock.none : draft.recordedAt.microseconds }

    var recordByteCount: Int {
        Record.byteCount(keyCount: draft.key?.rawValue.utf8.count ?? 0, payloadCount: draft.payload.count)
    }

    init(_ draft: DraftEvent, lane: Lane, salt: UnsafeRawBufferPointer) {
        self.draft = draft
        self.lane = lane
        self.salt = (
            salt.loadUnaligned(as: UInt64.self), salt.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
        let commitment = draft.payload.withUnsafeBytes { LeafHash.commitment(salt: salt, payload: $0) }
        let recordedAt = draft.recordedAt.microseconds
        guard var key = draft.key?.rawValue else {
            keyHash = 0
            leafHash = LeafHash.hash(recordedAt: recordedAt, lane: lane, key: nil, commitment: commitment)
            return
        }
        (keyHash, leafHash) = key.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            return (
                KeyHash.hash(bytes, seed: lane.keySeed),
                LeafHash.hash(recordedAt: recordedAt, lane: lane, key: bytes, commitment: commitment)
            )
        }
    }

    func write(to room: UnsafeMutableRawBufferPointer, lane number: UInt32) {
        Record.write(
            to: room,
            lane: number,
            recordedAt: draft.recordedAt.microseconds,
            salt: salt,
            leafHash: leafHash,
            key: draft.key,
            payload: draft.payload
        )
    }

    /// Lends the key's bytes; of a draft without a key none.
    @inline(__always)
    func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        var key = draft.key?.rawValue ?? ""
        return try key.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    }

    /// Whether source, key, kind and payload are those of another draft, byte for byte.
    func repeats(_ other: PreparedEvent) -> Bool {
        hasKey(of: other) && lane.kind.rawValue.utf8.elementsEqual(other.lane.kind.rawValue.utf8)
            && draft.payload == other.draft.payload
    }

    func hasKey(of other: PreparedEvent) -> Bool {
        guard let key = draft.key, let otherKey = other.draft.key else { return false }
        return key.rawValue.utf8.elementsEqual(otherKey.rawValue.utf8)
            && lane.source.rawValue.utf8.elementsEqual(other.lane.source.rawValue.utf8)
    }
}
