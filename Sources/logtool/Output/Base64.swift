#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Base 64 with padding (RFC 4648, section 4).
enum Base64 {
    /// Writes bytes as text.
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
    }

    /// Reads text with padding; `nil` where it is not what `encode` writes.
    static func decode(_ text: String) -> [UInt8]? {
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        return Array(data)
    }
}
