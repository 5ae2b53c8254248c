/// One value of the table `events` that holds several events, compressed: what sealing makes of older records. The key is the
/// sequence of the last of them (`docs/decisions/0045-older-events-lie-in-blocks.md`).
///
/// ```
/// u8 2 ‖ u16 n ‖ n × 32 leaf hash ‖ u32 m ‖ m salts and commitments, in the order of the events ‖ Zstandard frame
/// frame: n × u32 step ‖ n × u8 state ‖ n × u32 lane ‖ n × i64 time ‖ n × u8 key length ‖ n × u32 payload length ‖ keys ‖ payloads
/// ```
///
/// A step is the sequence less that of the event before, 0 for the first; a time is `recordedAt` less that of the event before.
/// Hashes and salts are random bytes and would only grow in the frame.
///
/// Opened, a block has the records as they stand in an unsealed log, one behind the other, in memory of its own. They never
/// change, so that any thread may read them.
final class SealedBlock: @unchecked Sendable {
    /// The first byte of a block, where a record has its version.
    static let version: UInt8 = 2
    /// The most events of a block.
    static let countMax = 512
    /// A block takes no further event that would give it more payload bytes than this.
    static let payloadBytesMax = 1 << 20
    /// Bytes of the columns in the frame, for each event.
    private static let columnBytes = 22
    /// The most bytes that a frame may expand to: one payload may be larger than `payloadBytesMax`.
    private static let frameBytesMax =
        countMax * (columnBytes + Int(UInt8.max)) + max(payloadBytesMax, EnvelopeLimits.payloadBytesMax)

    /// The sequence of each event, ascending.
    let sequences: [UInt64]
    /// Where each record ends.
    private let ends: [Int]
    private let bytes: UnsafeMutableRawBufferPointer

    private init(sequences: [UInt64], ends: [Int], bytes: UnsafeMutableRawBufferPointer) {
        (self.sequences, self.ends, self.bytes) = (sequences, ends, bytes)
    }

    deinit {
        bytes.deallocate()
    }

    /// The record at a place, counted from 0; valid as long as the block.
    @inline(__always)
    func record(at place: Int) -> Record? {
        Record(UnsafeRawBufferPointer(rebasing: bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]]))
    }

    /// The place of the first event at or behind a sequence; the number of events where there is none.
    func place(atLeast sequence: UInt64) -> Int {
        var (low, high) = (0, sequences.count)
        while low < high {
            let middle = (low + high) / 2
            if sequences[middle] < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a value of the table `events` says that it is a block.
    @inline(__always)
    static func isBlock(_ value: UnsafeRawBufferPointer) -> Bool { value.first == version }

    /// How many events a value says that it holds; 1 for a record.
    static func count(in value: UnsafeRawBufferPointer) -> UInt64 {
        isBlock(value) ? UInt64(value.bigEndian(at: 1, as: UInt16.self) ?? 0) : 1
    }
}

// MARK: - Opening

extension SealedBlock {
    /// What the columns say of one event.
    private struct Entry {
        var sequence: UInt64
        var isRedacted: Bool
        var lane: UInt32
        var recordedAt: Int64
        var keyBytes: Int
        var payloadBytes: Int

        var secretBytes: Int { isRedacted ? 32 : Record.saltBytes }
    }

    /// Opens the value under a key; `nil` if it is no block, or damaged. Holds no more than the value may expand to.
    static func open(
        _ value: UnsafeRawBufferPointer,
        last: UInt64,
        with decompressor: BlockDecompressor
    ) -> SealedBlock? {
        var reader = ByteReader(value)
        guard reader.number(UInt8.self) == version, let number = reader.number(UInt16.self),
            (1...countMax).contains(Int(number)), let hashes = reader.raw(Int(number) * 32),
            let secretBytes = reader.number(UInt32.self), let secrets = reader.raw(Int(secretBytes)),
            let frame = reader.raw(reader.remainingCount)
        else { return nil }
        return decompressor.withBytes(of: frame, bytesMax: frameBytesMax) { content in
            open(content, count: Int(number), last: last, hashes: hashes, secrets: secrets)
        }
    }

    private static func open(
        _ content: UnsafeRawBufferPointer,
        count: Int,
        last: UInt64,
        hashes: UnsafeRawBufferPointer,
        secrets: UnsafeRawBufferPointer
    ) -> SealedBlock? {
        guard let entries = entries(content, count: count, last: last) else { return nil }
        let (keyBytes, payloadBytes) = entries.reduce((0, 0)) { ($0.0 + $1.keyBytes, $0.1 + $1.payloadBytes) }
        let secretBytes = entries.reduce(0) { $0 + $1.secretBytes }
        guard content.count == count * columnBytes + keyBytes + payloadBytes, secrets.count == secretBytes else {
            return nil
        }
        var keys = ByteReader(UnsafeRawBufferPointer(rebasing: content[(count * columnBytes)...]))
        var payloads = ByteReader(UnsafeRawBufferPointer(rebasing: content[(count * columnBytes + keyBytes)...]))
        var salts = ByteReader(secrets)
        let total = count * Record.fixedBytes + secretBytes + keyBytes + payloadBytes
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: total, alignment: 8)
        var ends: [Int] = []
        ends.reserveCapacity(count)
        var end = 0
        for (place, entry) in entries.enumerated() {
            let hash = UnsafeRawBufferPointer(rebasing: hashes[place * 32..<place * 32 + 32])
            guard let secret = salts.raw(entry.secretBytes), let key = keys.raw(entry.keyBytes),
                let payload = payloads.raw(entry.payloadBytes)
            else {
                bytes.deallocate()
                return nil
            }
            let start = end
            end += Record.fixedBytes + secret.count + key.count + payload.count
            Record.write(
                to: UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end]),
                holding: entry.isRedacted ? .redacted : .whole,
                lane: entry.lane,
                recordedAt: entry.recordedAt,
                hash: hash,
                secret: secret,
                key: key,
                payload: payload
            )
            ends.append(end)
        }
        return SealedBlock(sequences: entries.map(\.sequence), ends: ends, bytes: bytes)
    }

    /// Reads the columns; `nil` if the sequences do not ascend to `last`, or a state is none.
    private static func entries(_ content: UnsafeRawBufferPointer, count: Int, last: UInt64) -> [Entry]? {
        guard content.count >= count * columnBytes else { return nil }
        func number<Number: FixedWidthInteger>(_ column: Int, _ place: Int, _ type: Number.Type) -> Number {
            let offset = column * count + place * MemoryLayout<Number>.size
            return Number(bigEndian: content.loadUnaligned(fromByteOffset: offset, as: Number.self))
        }
        let span = (0..<count).reduce(UInt64(0)) { $0 + UInt64(number(0, $1, UInt32.self)) }
        guard span < last else { return nil }
        var (sequence, time) = (last - span, Int64(0))
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for place in 0..<count {
            let (step, state) = (number(0, place, UInt32.self), number(4, place, UInt8.self))
            guard (step == 0) == (place == 0), state <= EventHolding.redacted.rawValue else { return nil }
            sequence += UInt64(step)
            time &+= number(9, place, Int64.self)
            entries.append(
                Entry(
                    sequence: sequence,
                    isRedacted: state == EventHolding.redacted.rawValue,
                    lane: number(5, place, UInt32.self),
                    recordedAt: time,
                    keyBytes: Int(number(17, place, UInt8.self)),
                    payloadBytes: Int(number(18, place, UInt32.self))
                )
            )
        }
        return entries
    }
}
