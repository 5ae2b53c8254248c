import EventLog

/// A value that writes and reads its own bytes. The containers of `Codable` cost about ten times as much.
///
/// For types with a million values in a large state. `read` takes exactly the bytes that `write` wrote, and throws on
/// bytes that encode no value. `write` must depend on the value alone, except that a dictionary's entries come in any
/// order. So saved bytes are not to be compared.
protocol StateCodable {
    func write(to encoder: StateEncoder) throws
    static func read(from decoder: StateDecoder) throws -> Self
}

extension StateDecoder {
    /// Reads the byte that selects a case of an enum; throws for a number that selects none.
    func readTag(below count: UInt8) throws -> UInt8 {
        let tag = try readNumber(UInt8.self)
        guard tag < count else { throw fault("there is no such case") }
        return tag
    }
}

extension String: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeText(self) }
    static func read(from decoder: StateDecoder) throws -> String { try decoder.readText() }
}

extension Bool: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeTruth(self) }
    static func read(from decoder: StateDecoder) throws -> Bool { try decoder.readTruth() }
}

extension StateCodable where Self: FixedWidthInteger {
    func write(to encoder: StateEncoder) { encoder.writeNumber(self) }
    static func read(from decoder: StateDecoder) throws -> Self { try decoder.readNumber(Self.self) }
}

// All that a container of `Codable` knows by itself: one that is missing would go round in circles between its `encode`
// and the encoder.
extension Int: StateCodable {}
extension Int8: StateCodable {}
extension Int16: StateCodable {}
extension Int32: StateCodable {}
extension Int64: StateCodable {}
extension UInt: StateCodable {}
extension UInt8: StateCodable {}
extension UInt16: StateCodable {}
extension UInt32: StateCodable {}
extension UInt64: StateCodable {}
extension UInt128: StateCodable {}

extension Optional: StateCodable where Wrapped: StateCodable {
    func write(to encoder: StateEncoder) throws {
        encoder.writeTruth(self != nil)
        try self?.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> Wrapped? {
        try decoder.readTruth() ? try Wrapped.read(from: decoder) : nil
    }
}

extension Array: StateCodable where Element: StateCodable {
    func write(to encoder: StateEncoder) throws {
        // Bytes are copied as one block. A cast to an array of them would look at each.
        if Element.self == UInt8.self {
            return withUnsafeBytes { bytes in
                encoder.writeNumber(UInt64(bytes.count))
                encoder.writeBytes(bytes)
            }
        }
        // A count beyond 32 bits would be written wrong and fail on reading; no state has so many elements.
        encoder.writeNumber(UInt32(clamping: count))
        for element in self { try element.write(to: encoder) }
    }

    static func read(from decoder: StateDecoder) throws -> [Element] {
        // Both types are one, so nothing is reinterpreted.
        if Element.self == UInt8.self { return unsafeBitCast(try decoder.readBlock(), to: [Element].self) }
        // The count may be wrong, so memory is reserved only as elements are read.
        var elements: [Element] = []
        for _ in 0..<(try decoder.readNumber(UInt32.self)) { elements.append(try .read(from: decoder)) }
        return elements
    }
}

/// The standard library encodes a dictionary with `String` keys through a keyed container, whose names `StateEncoder`
/// does not write. Dictionaries with other keys are lists of keys and values.
extension Dictionary: StateCodable where Key == String, Value: Codable {
    func write(to encoder: StateEncoder) throws {
        encoder.writeNumber(UInt32(clamping: count))
        for (key, value) in self {
            encoder.writeText(key)
            try encoder.write(value)
        }
    }

    static func read(from decoder: StateDecoder) throws -> [String: Value] {
        var table: [String: Value] = [:]
        for _ in 0..<(try decoder.readNumber(UInt32.self)) {
            let key = try decoder.readText()
            table[key] = try decoder.read(Value.self)
        }
        return table
    }
}

extension StoredJSON: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeBlock(withBytes { Array($0) }) }

    static func read(from decoder: StateDecoder) throws -> StoredJSON {
        guard let value = StoredJSON(unchecked: try decoder.readBlock()) else { throw decoder.fault("it is no JSON") }
        return value
    }
}

extension ExactText: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeText(string) }
    static func read(from decoder: StateDecoder) throws -> ExactText { ExactText(try decoder.readText()) }
}

extension EntityID: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeNumber(rawValue) }

    static func read(from decoder: StateDecoder) throws -> EntityID {
        EntityID(saved: try decoder.readNumber(UInt64.self))
    }
}

extension SequenceNumber: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeNumber(rawValue) }

    static func read(from decoder: StateDecoder) throws -> SequenceNumber {
        SequenceNumber(try decoder.readNumber(UInt64.self))
    }
}

extension Timestamp: StateCodable {
    func write(to encoder: StateEncoder) {
        encoder.writeNumber(seconds)
        encoder.writeNumber(nanoseconds)
    }

    static func read(from decoder: StateDecoder) throws -> Timestamp {
        let seconds = try decoder.readNumber(Int64.self)
        let nanoseconds = try decoder.readNumber(UInt32.self)
        guard nanoseconds < 1_000_000_000 else { throw decoder.fault("over a second") }
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }
}

extension Hash256: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeBlock(bytes) }

    static func read(from decoder: StateDecoder) throws -> Hash256 {
        guard let hash = Hash256(try decoder.readBlock()) else { throw decoder.fault("a hash has not 32 bytes") }
        return hash
    }
}

extension EventReference: StateCodable {
    func write(to encoder: StateEncoder) {
        sequence.write(to: encoder)
        recordedAt.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> EventReference {
        EventReference(sequence: try .read(from: decoder), recordedAt: try .read(from: decoder))
    }
}

/// A tag, then the value. Numbers keep the text of the remote, so that nothing is rounded.
extension JSONValue: StateCodable {
    func write(to encoder: StateEncoder) throws {
        switch self {
        case .null: encoder.writeNumber(UInt8(0))
        case .bool(let truth): encoder.writeNumber(UInt8(truth ? 2 : 1))
        case .number(let number):
            encoder.writeNumber(UInt8(3))
            encoder.writeText(number.text)
        case .string(let text):
            encoder.writeNumber(UInt8(4))
            encoder.writeText(text)
        case .array(let elements):
            encoder.writeNumber(UInt8(5))
            try elements.write(to: encoder)
        case .object(let object):
            encoder.writeNumber(UInt8(6))
            try object.write(to: encoder)
        }
    }

    static func read(from decoder: StateDecoder) throws -> JSONValue {
        switch try decoder.readTag(below: 7) {
        case 0: .null
        case 1: .bool(false)
        case 2: .bool(true)
        // Unchecked: the bytes come from this build and were checked by hash.
        case 3: .number(JSONNumber(unchecked: try decoder.readText()))
        case 4: .string(try decoder.readText())
        case 5: .array(try .read(from: decoder))
        default: .object(try .read(from: decoder))
        }
    }
}

extension JSONObject: StateCodable {
    func write(to encoder: StateEncoder) throws { try members.write(to: encoder) }
    static func read(from decoder: StateDecoder) throws -> JSONObject { JSONObject(members: try .read(from: decoder)) }
}

extension JSONObject.Member: StateCodable {
    func write(to encoder: StateEncoder) throws {
        encoder.writeText(name)
        try value.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> JSONObject.Member {
        JSONObject.Member(name: try decoder.readText(), value: try .read(from: decoder))
    }
}
