/// The name of the recorder that an event came from, such as `vibe`: 1 … 255 bytes of UTF-8.
public struct SourceName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name as text.
    public let rawValue: String

    /// The source of acts, which logtool itself does to a log. No recorder may use it (I1).
    public static let logtool = SourceName(unchecked: "logtool")

    /// Makes a name.
    ///
    /// - Throws: `EventLogError` with code `invalidEnvelope` if it is empty or longer than 255 bytes.
    public init(_ rawValue: String) throws {
        try checkLength(of: rawValue, atMost: EnvelopeLimits.sourceBytesMax, what: "source")
        self.rawValue = rawValue
    }

    /// For a name that was checked before, or a literal of this program.
    init(unchecked rawValue: String) {
        self.rawValue = rawValue
    }

    /// The text that people and scripts read.
    public var description: String { rawValue }

    /// Orders names by their UTF-8 bytes.
    public static func < (left: SourceName, right: SourceName) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

/// What a payload is and the version of its format, such as `gateway.frame/1`: 1 … 64 bytes of UTF-8.
public struct EventKind: Hashable, Sendable, CustomStringConvertible {
    /// The kind as text.
    public let rawValue: String

    /// Makes a kind.
    ///
    /// - Throws: `EventLogError` with code `invalidEnvelope` if it is empty or longer than 64 bytes.
    public init(_ rawValue: String) throws {
        try checkLength(of: rawValue, atMost: EnvelopeLimits.kindBytesMax, what: "kind")
        self.rawValue = rawValue
    }

    /// Makes a kind from a literal of the program. Traps on a literal that breaks the limit.
    public init(_ literal: StaticString) {
        self.init(listed: literal.description)
    }

    /// Makes a kind from a list in the program. Traps on a text that breaks the limit.
    package init(listed rawValue: String) {
        self.rawValue = rawValue
        precondition((1...EnvelopeLimits.kindBytesMax).contains(rawValue.utf8.count), "kind has 1 to 64 bytes")
    }

    /// The text that people and scripts read.
    public var description: String { rawValue }
}

/// What identifies a remote change for ever, within its source: 1 … 255 bytes of UTF-8 (I4).
public struct EventKey: Hashable, Sendable, CustomStringConvertible {
    /// The key as text.
    public let rawValue: String

    /// Makes a key.
    ///
    /// - Throws: `EventLogError` with code `invalidEnvelope` if it is empty or longer than 255 bytes.
    public init(_ rawValue: String) throws {
        try checkLength(of: rawValue, atMost: EnvelopeLimits.keyBytesMax, what: "key")
        self.rawValue = rawValue
    }

    /// For a key that was checked before.
    init(unchecked rawValue: String) {
        self.rawValue = rawValue
    }

    /// A key for an event whose own key is held with another payload: `KEY~` and 16 hex digits of the payload's SHA-256
    /// (I4). A long key loses characters at its end to make room. Equal keys and payloads always give the same key, so
    /// that recording them again adds nothing.
    public func separated(by payload: [UInt8]) throws -> EventKey {
        let suffix = "~" + Hasher256.hash(payload).hex.prefix(16)
        var stem = Substring(rawValue)
        while stem.utf8.count + suffix.utf8.count > EnvelopeLimits.keyBytesMax { stem.removeLast() }
        return try EventKey(stem + suffix)
    }

    /// The text that people and scripts read.
    public var description: String { rawValue }
}

/// The limits of an envelope and its payload (I3).
public enum EnvelopeLimits {
    /// The longest source name, in bytes.
    public static let sourceBytesMax = 255
    /// The longest kind, in bytes.
    public static let kindBytesMax = 64
    /// The longest key, in bytes.
    public static let keyBytesMax = 255
    /// The most attributes that one event has.
    public static let attributeCountMax = 16
    /// The most bytes of all names and values of one event's attributes together.
    public static let attributeBytesMax = 4096
    /// The largest payload, in bytes (16 MiB). Recorders replace a larger one by a `recorder.oversize/1`.
    public static let payloadBytesMax = 16 << 20
}

private func checkLength(of text: String, atMost limit: Int, what: String) throws {
    let count = text.utf8.count
    guard count == 0 || count > limit else { return }
    throw EventLogError(
        .invalidEnvelope,
        operation: "check \(what)",
        object: String(text.prefix(80)),
        reason: count == 0 ? "it is empty" : "it has \(count) bytes, at most \(limit) are allowed"
    )
}
