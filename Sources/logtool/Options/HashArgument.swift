import ArgumentParser
import EventLog

/// Hashes as options and in documents: 64 hex digits or base64.
enum HashArgument {
    /// Reads a hash.
    static func parse(_ text: String) throws -> Hash256 {
        guard let hash = hash(text) else {
            throw ValidationError("\"\(text)\" is no SHA-256 hash: write 64 hex digits or 44 characters of base64")
        }
        return hash
    }

    /// The hash that a text spells, in hex of either case or in base64; `nil` for any other text.
    static func hash(_ text: String) -> Hash256? {
        (hexBytes(text) ?? Base64.decode(text)).flatMap { Hash256($0) }
    }

    private static func hexBytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
