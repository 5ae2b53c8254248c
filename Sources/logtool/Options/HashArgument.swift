import ArgumentParser
import EventLog

/// Hashes as options and in documents: 64 hex digits or base64.
enum HashArgument {
    /// Reads a hash.
    ///
    /// - Throws: `ValidationError` for any other length or alphabet.
    static func parse(_ text: String) throws -> Hash256 {
        guard let hash = Hash256(spelled: text) else {
            throw ValidationError("\"\(text)\" is no SHA-256 hash: write 64 hex digits or 44 characters of base64")
        }
        return hash
    }
}
