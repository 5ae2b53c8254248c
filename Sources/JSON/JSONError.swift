/// Why bytes are not one JSON text. Quotes none of them, because they may contain a secret (I14).
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place of the error, in bytes from the start, from 0.
    public let offset: Int
    /// The fault at that place, in lower case.
    public let reason: String

    package init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    /// The offset and the reason.
    public var description: String { "not JSON at byte \(offset): \(reason)" }
}
