/// Reads what `StateEncoder` of the same program wrote. Accepts any bytes, and throws on those that do not fit.
///
/// Nothing in the bytes names a type: values must be read in the order in which they were written. Bytes of another
/// type may decode to a wrong value without an error, so callers check hashes and versions first. For one thread.
final class StateDecoder: Decoder {
    private let bytes: [UInt8]
    /// The next byte to read; at most `bytes.count`.
    private var offset = 0
    /// Always empty: errors name no member, as damaged data is only discarded.
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Decodes one value from all of the bytes.
    ///
    /// - Throws: `DecodingError` if the bytes are too few, too many or no such value.
    static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try value(from: bytes) { try $0.read(type) }
    }

    /// Decodes a value with a closure, which must read all of the bytes: left-over bytes throw.
    static func value<Value>(from bytes: [UInt8], _ read: (StateDecoder) throws -> Value) throws -> Value {
        let decoder = StateDecoder(bytes)
        let value = try read(decoder)
        guard decoder.offset == bytes.count else { throw decoder.fault("there are bytes after the value") }
        return value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Members<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        Elements(decoder: self, count: Int(try readNumber(UInt32.self)))
    }

    /// The byte before the value tells whether it is present; see `StateEncoder.SingleValue`.
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleValue(decoder: self, isPresent: try readTruth())
    }

    /// Whether all bytes were read.
    var isAtEnd: Bool { offset == bytes.count }

    /// The error for bytes that encode no value.
    func fault(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason))
    }

    func readNumber<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        let size = MemoryLayout<Number>.size
        guard bytes.count - offset >= size else { throw fault("the bytes end within a number") }
        defer { offset += size }
        // The guard has shown that the number lies within the bytes; `loadUnaligned` accepts any offset.
        return bytes.withUnsafeBytes {
            Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type))
        }
    }

    func readText() throws -> String {
        let count = Int(try readNumber(UInt32.self))
        guard bytes.count - offset >= count,
            let text = String(validating: bytes[offset..<offset + count], as: UTF8.self)
        else { throw fault("a text is cut short or is not UTF-8") }
        offset += count
        return text
    }

    /// Reads a block of bytes; throws before memory is reserved if the count exceeds the bytes left.
    func readBlock() throws -> [UInt8] { try readBlock { Array($0) } }

    /// Lends a block of bytes.
    func readBlock<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        guard let count = Int(exactly: try readNumber(UInt64.self)), bytes.count - offset >= count else {
            throw fault("a block of bytes is cut short")
        }
        defer { offset += count }
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
    }

    func readTruth() throws -> Bool {
        switch try readNumber(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw fault("a truth is neither 0 nor 1")
        }
    }

    /// The next text, an enum case's name, without reading past it; `nil` if no valid text follows.
    func nextText() -> String? {
        let start = offset
        defer { offset = start }
        return try? readText()
    }

    /// Reads one value, by `StateCodable` where its type conforms, else by `Codable`. The same choice as
    /// `StateEncoder.write`.
    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let own = type as? any StateCodable.Type else { return try Value(from: self) }
        guard let value = try own.read(from: self) as? Value else { throw fault("a value is of another type") }
        return value
    }
}

extension StateDecoder {
    /// The members of a struct, in the order in which the struct decodes them, or the case of an enum. Keys are not
    /// compared.
    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: StateDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }

        /// The next case of an enum. Only the synthesized decoding of enums reads this.
        var allKeys: [Key] { decoder.nextText().flatMap { Key(stringValue: $0) }.map { [$0] } ?? [] }

        /// Every member was written, absent ones as a zero byte.
        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) throws -> Bool { try !decoder.readTruth() }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder.read(type) }
        func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decoder.readNumber(type) }

        // Each overload is needed, as in `StateEncoder`.
        func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try decodeOptional(type) }
        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try decodeOptional(type) }
        func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try decodeOptional(type) }
        func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try decodeOptional(type) }
        func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try decodeOptional(type) }
        func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try decodeOptional(type) }
        func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try decodeOptional(type) }
        func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try decodeOptional(type) }
        func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try decodeOptional(type) }
        func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try decodeOptional(type) }
        func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try decodeOptional(type) }
        func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try decodeOptional(type) }
        func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try decodeOptional(type) }
        func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try decodeOptional(type) }
        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            try decodeOptional(type)
        }

        private func decodeOptional<Value: Decodable>(_ type: Value.Type) throws -> Value? {
            try decoder.readTruth() ? try decoder.read(type) : nil
        }

        /// Reads the case of an enum; its associated values follow.
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            guard try decoder.readText() == key.stringValue else { throw decoder.fault("a case is another one") }
            return decoder.container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try decoder.unkeyedContainer()
        }

        func superDecoder() -> any Decoder { decoder }
        func superDecoder(forKey key: Key) -> any Decoder { decoder }
    }

    /// The elements of a list. `isAtEnd` alone tells its end.
    private struct Elements: UnkeyedDecodingContainer {
        let decoder: StateDecoder
        /// Hidden: the written count may be wrong, and nothing may reserve memory for it. `total` is the written count.
        let count: Int? = nil
        private let total: Int
        private(set) var currentIndex = 0
        var codingPath: [any CodingKey] { decoder.codingPath }

        init(decoder: StateDecoder, count: Int) {
            self.decoder = decoder
            total = count
        }

        var isAtEnd: Bool { currentIndex >= total }

        /// Never passes an element: an absent one has a byte that `decode` of an optional type reads.
        mutating func decodeNil() throws -> Bool { false }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            guard !isAtEnd else { throw decoder.fault("a list has too few elements") }
            currentIndex += 1
            return try decoder.read(type)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> {
            decoder.container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }
        func superDecoder() -> any Decoder { decoder }
    }

    private struct SingleValue: SingleValueDecodingContainer {
        let decoder: StateDecoder
        let isPresent: Bool
        var codingPath: [any CodingKey] { decoder.codingPath }

        func decodeNil() -> Bool { !isPresent }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            guard isPresent else { throw decoder.fault("a value is missing") }
            return try decoder.read(type)
        }
    }
}
