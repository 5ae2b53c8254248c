/// Encodes `Encodable` values by position, without names, for `StateDecoder` of the same program.
///
/// Numbers are little-endian and of fixed width. Texts and lists begin with a 32-bit count, blocks of bytes with a
/// 64-bit count, optional values with a byte that is 1 if they are present. Cases of an enum begin with the case's name
/// or, in a `StateCodable` type, with a byte. The form follows from the types alone, so it suits only data that another
/// version of the program discards. For one thread.
final class StateEncoder: Encoder {
    /// The value takes more bytes than allowed.
    struct LimitExceeded: Error {}

    /// A place in what was written.
    struct Place {
        fileprivate let chunk: Int
        fileprivate let offset: Int
    }

    /// What was written; of an encoder that divides it, the chunk that is being written.
    private(set) var bytes: [UInt8] = []
    /// The chunks before that one, and their length.
    private var chunks: [[UInt8]] = []
    private var chunkedCount = 0
    /// The length from which on a chunk ends with the value that is being written, and the bytes that each begins with; `nil` if
    /// all is one. Chunks spare the memory that a long array takes to grow.
    private let division: (byteCount: Int, head: [UInt8])?
    /// How many bytes may be written before the next value is refused, so that a large state costs no more than a
    /// small one to be found too large.
    private let byteCountMax: Int
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(byteCountMax: Int = .max) {
        (self.byteCountMax, division) = (byteCountMax, nil)
    }

    private init(byteCountMax: Int, chunkBytes: Int, head: [UInt8]) {
        (self.byteCountMax, division, bytes) = (byteCountMax, (chunkBytes, head), head)
    }

    /// Encodes one value.
    ///
    /// - Throws: `LimitExceeded` soon after `byteCountMax` bytes.
    static func bytes(of value: some Encodable, byteCountMax: Int = .max) throws -> [UInt8] {
        let encoder = StateEncoder(byteCountMax: byteCountMax)
        try encoder.write(value)
        return encoder.bytes
    }

    /// Encodes one value into chunks, at least one: their bytes behind `head`, one chunk behind another, are those of `bytes(of:)`.
    ///
    /// - Parameter chunkBytes: The length of a chunk, but for the last; one is longer by what was left of its value.
    /// - Throws: `LimitExceeded` soon after `byteCountMax` bytes.
    static func chunks(
        of value: some Encodable,
        of chunkBytes: Int,
        head: [UInt8],
        byteCountMax: Int
    ) throws -> [[UInt8]] {
        let encoder = StateEncoder(byteCountMax: byteCountMax, chunkBytes: chunkBytes, head: head)
        try encoder.write(value)
        return encoder.chunks + [encoder.bytes]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValue(encoder: self)
    }

    func writeNumber(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    func writeText(_ text: String) {
        writeNumber(UInt32(clamping: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    func writeBlock(_ block: [UInt8]) {
        writeNumber(UInt64(block.count))
        bytes.append(contentsOf: block)
    }

    /// Writes a value behind the count of its bytes, as `writeBlock` writes them.
    func writeBlock(of value: some Encodable) throws {
        let (place, before) = (place, writtenCount)
        writeNumber(UInt64(0))
        try write(value)
        set(UInt64(writtenCount - before - 8), at: place)
    }

    /// Writes bytes without a count; the reader must know where they end.
    func writeBytes(_ bytes: UnsafeRawBufferPointer) {
        divide()
        self.bytes.append(contentsOf: bytes)
    }

    /// Where the next byte goes.
    private var place: Place { Place(chunk: chunks.count, offset: bytes.count) }

    /// How many bytes were written.
    private var writtenCount: Int { chunkedCount + bytes.count - (division?.head.count ?? 0) }

    /// Ends a chunk that is long enough.
    private func divide() {
        guard let division, bytes.count >= division.byteCount else { return }
        chunks.append(bytes)
        chunkedCount += bytes.count - division.head.count
        bytes = []
        bytes.reserveCapacity(division.byteCount + division.byteCount / 8)
        bytes.append(contentsOf: division.head)
    }

    /// Returns the bytes written so far and clears them, for an encoder that writes several pieces.
    func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    func writeTruth(_ truth: Bool) { bytes.append(truth ? 1 : 0) }

    /// Writes one value, by `StateCodable` where its type conforms, else by `Codable`.
    func write<Value: Encodable>(_ value: Value) throws {
        if writtenCount > byteCountMax { throw LimitExceeded() }
        divide()
        if let value = value as? any StateCodable {
            try value.write(to: self)
        } else {
            try value.encode(to: self)
        }
    }

    /// Overwrites a count that was written as zero before its elements: how many follow is known only afterwards.
    private func set(_ count: some FixedWidthInteger, at place: Place) {
        withUnsafeBytes(of: count.littleEndian) { count in
            let range = place.offset..<place.offset + count.count
            if place.chunk < chunks.count {
                chunks[place.chunk].replaceSubrange(range, with: count)
            } else {
                bytes.replaceSubrange(range, with: count)
            }
        }
    }
}

extension StateEncoder {
    /// The members of a struct, in the order in which the struct encodes them.
    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: StateEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        /// An absent value is a zero byte, as `encodeOptional` writes it.
        func encodeNil(forKey key: Key) { encoder.writeTruth(false) }
        func encode(_ value: some Encodable, forKey key: Key) throws { try encoder.write(value) }
        /// Without this overload the standard library's default throws.
        func encode(_ value: UInt128, forKey key: Key) throws { encoder.writeNumber(value) }

        // Each overload is needed: the standard library's default encodes nothing at all for `nil`.
        func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value) }
        func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try encodeOptional(value) }

        private func encodeOptional(_ value: (some Encodable)?) throws {
            encoder.writeTruth(value != nil)
            if let value { try encoder.write(value) }
        }

        /// Writes the case of an enum; its associated values follow.
        func nestedContainer<Nested: CodingKey>(
            keyedBy keyType: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            encoder.writeText(key.stringValue)
            return encoder.container(keyedBy: keyType)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder }
        func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }

    /// The elements of a list, behind their count, which each element raises.
    private struct Elements: UnkeyedEncodingContainer {
        let encoder: StateEncoder
        private let place: Place
        private(set) var count = 0
        var codingPath: [any CodingKey] { encoder.codingPath }

        init(encoder: StateEncoder) {
            self.encoder = encoder
            place = encoder.place
            encoder.writeNumber(UInt32(0))
        }

        mutating func encodeNil() throws { try encode(Bool?.none) }

        mutating func encode(_ value: some Encodable) throws {
            try encoder.write(value)
            count += 1
            encoder.set(UInt32(clamping: count), at: place)
        }

        mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested>
        {
            encoder.container(keyedBy: keyType)
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder }
    }

    /// A single value, behind a byte that is 0 for `nil`: lists of optional values need it.
    private struct SingleValue: SingleValueEncodingContainer {
        let encoder: StateEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.writeTruth(false) }

        func encode(_ value: some Encodable) throws {
            encoder.writeTruth(true)
            try encoder.write(value)
        }
    }
}
