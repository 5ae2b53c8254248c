/// Facts about an event that its payload does not contain: at most 16 pairs of name and value, sorted by the names'
/// UTF-8 bytes, 4 KiB together (I3).
public struct Attributes: Hashable, Sendable {
    /// One pair.
    public struct Pair: Hashable, Sendable {
        /// The attribute's name, such as `dir`.
        public let name: String
        /// Its value, such as `in`.
        public let value: String

        /// Makes a pair.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The pairs, ascending by the names' UTF-8 bytes; no name occurs twice.
    public let pairs: [Pair]

    /// No attributes.
    public static let none = Attributes(sorted: [])

    /// Makes attributes of pairs in any order.
    ///
    /// - Throws: `EventLogError` with code `invalidEnvelope` if a name is empty or occurs twice, or if a limit of
    ///   `EnvelopeLimits` is exceeded.
    public init(_ pairs: [Pair]) throws {
        let sorted = pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        if let reason = Self.fault(in: sorted) {
            throw EventLogError(
                .invalidEnvelope,
                operation: "check attributes",
                object: sorted.map(\.name).joined(separator: ", "),
                reason: reason
            )
        }
        self.pairs = sorted
    }

    /// For pairs that keep all rules.
    private init(sorted: [Pair]) {
        self.pairs = sorted
    }

    /// The value under a name, or `nil`.
    public subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }

    /// The first rule that sorted pairs break, in words; `nil` if they keep all.
    private static func fault(in sorted: [Pair]) -> String? {
        if sorted.count > EnvelopeLimits.attributeCountMax {
            return "\(sorted.count) attributes, at most \(EnvelopeLimits.attributeCountMax) are allowed"
        }
        if sorted.contains(where: { $0.name.isEmpty }) { return "a name is empty" }
        // Compares bytes: Swift's equality of texts would take two different names for one.
        if zip(sorted, sorted.dropFirst()).contains(where: { $0.name.utf8.elementsEqual($1.name.utf8) }) {
            return "a name stands twice"
        }
        let bytes = sorted.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return bytes > EnvelopeLimits.attributeBytesMax
            ? "\(bytes) bytes, at most \(EnvelopeLimits.attributeBytesMax) are allowed" : nil
    }
}

extension Attributes: ExpressibleByDictionaryLiteral {
    /// Makes attributes from a literal of the program, in any order. Traps on a literal that breaks a limit.
    public init(dictionaryLiteral elements: (String, String)...) {
        let sorted = elements.map { Pair(name: $0.0, value: $0.1) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        precondition(Self.fault(in: sorted) == nil, "attributes of a literal keep the limits")
        self.pairs = sorted
    }
}
