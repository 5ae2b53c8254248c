/// Gathers records, and makes the value of a block of them. For one thread.
struct BlockBuilder {
    private var hashes = ByteWriter()
    private var secrets = ByteWriter()
    private var steps = ByteWriter()
    private var states = ByteWriter()
    private var lanes = ByteWriter()
    private var times = ByteWriter()
    private var keyLengths = ByteWriter()
    private var payloadLengths = ByteWriter()
    private var keys = ByteWriter()
    private var payloads = ByteWriter()
    private var recordedAt: Int64 = 0
    /// The sequence of the last event; the key of the block.
    private(set) var last: UInt64 = 0
    private(set) var count = 0

    /// Whether an event must go into the next block: this one has as many as it may have, as many bytes, or ends too far before.
    func isFull(for record: Record, at sequence: UInt64) -> Bool {
        guard count > 0 else { return false }
        assert(last < sequence, "sequences ascend")
        return count == SealedBlock.countMax || sequence - last > UInt64(UInt32.max)
            || payloads.bytes.count + record.payload.count > SealedBlock.payloadBytesMax
    }

    /// Takes the record of an event behind the last one.
    mutating func add(_ record: Record, at sequence: UInt64) {
        assert(count < SealedBlock.countMax && last < sequence, "a block has its bounds")
        hashes.write(record.leafHash)
        secrets.write(record.secret)
        steps.write(count == 0 ? UInt32(0) : UInt32(clamping: sequence - last))
        states.write(record.holding.rawValue)
        lanes.write(record.laneNumber)
        times.write(record.recordedAt &- recordedAt)
        keyLengths.write(UInt8(clamping: record.key?.count ?? 0))
        payloadLengths.write(UInt32(clamping: record.payload.count))
        if let key = record.key { keys.write(key) }
        payloads.write(record.payload)
        (recordedAt, last) = (record.recordedAt, sequence)
        count += 1
    }

    /// The value of the block, to be stored under `last`.
    func value(compressedBy compressor: BlockCompressor) throws -> [UInt8] {
        assert(count > 0, "a block has an event")
        var value = ByteWriter()
        value.write(SealedBlock.version)
        value.write(UInt16(clamping: count))
        value.write(hashes.bytes)
        value.write(UInt32(clamping: secrets.bytes.count))
        value.write(secrets.bytes)
        var content = steps.bytes + states.bytes + lanes.bytes
        content += times.bytes + keyLengths.bytes + payloadLengths.bytes + keys.bytes
        value.write(try compressor.frame(of: content + payloads.bytes))
        return value.bytes
    }
}
