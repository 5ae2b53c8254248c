import EventLog
import JSON

/// A public key that verifies checkpoints, in the form that Go's `note` package and C2SP's tools read:
/// `NAME+ID+BASE64`, where ID has eight hex digits, and the bytes are `01` and the 32 bytes of an Ed25519 key.
public struct VerifierKey: Hashable, Sendable {
    /// Its name; that of a log's own key is the log's origin.
    public let name: String
    /// The first four bytes of SHA-256(name ‖ LF ‖ 01 ‖ key).
    public let keyID: UInt32
    private let key: [UInt8]

    /// The type of the signature: Ed25519.
    private static let type: UInt8 = 1

    init(name: String, key: [UInt8]) {
        (self.name, self.key) = (name, key)
        let hash = Hasher256.hash(Array(name.utf8) + [UInt8(ascii: "\n"), Self.type] + key)
        keyID = hash.bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads a key.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` for any other text.
    public init(_ text: String) throws {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, NoteText.isName(parts[0]), let bytes = Base64.decode(parts[2]), bytes.count == 33,
            bytes[0] == Self.type
        else {
            throw Self.refused(text, "it is not of the form NAME+ID+BASE64 with an Ed25519 key")
        }
        self.init(name: parts[0], key: Array(bytes[1...]))
        guard parts[1].lowercased() == id else { throw Self.refused(text, "its ID is not that of its name and key") }
    }

    private static func refused(_ text: String, _ reason: String) -> EventLogError {
        EventLogError(.invalidArgument, operation: "read key", object: text, reason: reason)
    }

    private var id: String {
        let digits = String(keyID, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    /// The key as a line of text.
    public var text: String { "\(name)+\(id)+\(Base64.encode([Self.type] + key))" }

    /// Whether a signature says that it is of this key.
    func isKey(of signature: SignedCheckpoint.Signature) -> Bool {
        signature.keyID == keyID && signature.name.utf8.elementsEqual(name.utf8)
    }

    func verifies(_ signature: [UInt8], of text: [UInt8]) throws -> Bool {
        try Ed25519.verifies(signature, of: text, publicKey: key)
    }
}

/// A private key that signs checkpoints.
public struct SigningKey: Sendable {
    /// The key that verifies what this one signs.
    public let verifier: VerifierKey
    private let seed: [UInt8]

    /// PKCS #8 (RFC 8410, section 7): everything before the 32 bytes of an Ed25519 key.
    private static let head: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    /// Reads a key in PEM, as `openssl genpkey -algorithm ed25519` writes it.
    ///
    /// - Parameters:
    ///   - file: the bytes of the file.
    ///   - path: where it is, for messages.
    ///   - name: the name of the key.
    /// - Throws: `EventLogError` with code `invalidArgument` for any other file, and for a name that has spaces or plus signs.
    public init(pem file: [UInt8], at path: String, name: String) throws {
        let lines = String(decoding: file, as: UTF8.self).split(whereSeparator: \.isNewline)
        let begin = lines.firstIndex(of: "-----BEGIN PRIVATE KEY-----")
        let end = lines.firstIndex(of: "-----END PRIVATE KEY-----")
        guard let begin, let end, begin < end, let bytes = Base64.decode(lines[(begin + 1)..<end].joined()),
            bytes.count == Self.head.count + 32, bytes.starts(with: Self.head), NoteText.isName(name)
        else {
            throw EventLogError(
                .invalidArgument,
                operation: "read key",
                object: path,
                reason: "it is no private Ed25519 key in PEM",
                advice: "make one: openssl genpkey -algorithm ed25519"
            )
        }
        seed = Array(bytes[Self.head.count...])
        verifier = VerifierKey(name: name, key: try Ed25519.publicKey(ofSeed: seed))
    }

    func signature(of text: [UInt8]) throws -> [UInt8] {
        try Ed25519.signature(of: text, seed: seed)
    }
}
