import EventLog
import Shipping

/// The file of a key that signs checkpoints.
enum SigningKeyFile {
    private static let bytesMax = 1 << 16

    /// Reads the file; the key gets its name when it is needed.
    ///
    /// - Throws: `EventLogError` for a file that cannot be read; the closure also for one that holds no key.
    static func key(at path: String) throws -> @Sendable (_ name: String) throws -> SigningKey {
        let pem = try InputFile.bytes(at: path, bytesMax: bytesMax)
        return { try SigningKey(pem: pem, at: path, name: $0) }
    }
}
