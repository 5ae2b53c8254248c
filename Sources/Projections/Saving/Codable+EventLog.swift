public import EventLog

/// These conformances serve saved states, and public types that contain such values. `StateEncoder` uses the faster
/// `StateCodable` where it can.
extension SequenceNumber: Codable {
    /// Reads the number.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(UInt64.self))
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension Timestamp: Codable {
    private enum CodingKeys: CodingKey { case seconds, nanoseconds }

    /// Reads seconds and nanoseconds.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try members.decode(Int64.self, forKey: .seconds)
        let nanoseconds = try members.decode(UInt32.self, forKey: .nanoseconds)
        guard nanoseconds < 1_000_000_000 else {
            let context = DecodingError.Context(codingPath: members.codingPath, debugDescription: "over a second")
            throw DecodingError.dataCorrupted(context)
        }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// Writes seconds and nanoseconds.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(seconds, forKey: .seconds)
        try members.encode(nanoseconds, forKey: .nanoseconds)
    }
}

extension LogPrefix: Codable {
    private enum CodingKeys: CodingKey { case sequence, hash }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            sequence: try members.decode(UInt64.self, forKey: .sequence),
            hash: try members.decode(Hash256.self, forKey: .hash)
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(sequence, forKey: .sequence)
        try members.encode(hash, forKey: .hash)
    }
}

extension Hash256: Codable {
    /// Reads 32 bytes.
    public init(from decoder: any Decoder) throws {
        guard let hash = Hash256(try decoder.singleValueContainer().decode([UInt8].self)) else {
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not 32 bytes")
            throw DecodingError.dataCorrupted(context)
        }
        self = hash
    }

    /// Writes 32 bytes.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
