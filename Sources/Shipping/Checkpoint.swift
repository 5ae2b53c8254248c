public import EventLog
import JSON

/// The head of a log's tree, as C2SP's tlog-checkpoint has it (https://c2sp.org/tlog-checkpoint).
public struct Checkpoint: Hashable, Sendable {
    /// What the log calls itself.
    public let origin: String
    /// How many events the tree has.
    public let size: UInt64
    /// The root over them.
    public let root: Hash256
    /// Lines behind these three, which mean nothing here; a signature covers them, too.
    public let extensions: [String]

    /// Makes a checkpoint.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` for an origin that is empty or has a space, a `+` or a control character.
    public init(origin: String, size: UInt64, root: Hash256) throws {
        guard NoteText.isName(origin) else {
            throw EventLogError(
                .invalidArgument,
                operation: "make checkpoint of",
                object: origin,
                reason: "an origin has neither spaces, plus signs nor control characters, and is not empty"
            )
        }
        (self.origin, self.size, self.root, extensions) = (origin, size, root, [])
    }

    /// The text that is signed: a line each.
    public var text: String {
        ([origin, String(size), Base64.encode(root.bytes)] + extensions).map { $0 + "\n" }.joined()
    }

    /// - Throws: `ExportFault` if the text of a note is no checkpoint.
    init(text: String) throws(ExportFault) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count >= 4, lines.last == "", !lines.dropLast().contains("") else {
            throw ExportFault("a checkpoint has three lines or more, none of them empty")
        }
        // No log has 2^63 events, and sums of what is less do not overflow.
        guard let size = UInt64(lines[1]), String(size) == lines[1], size <= Int64.max else {
            throw ExportFault("the second line of the checkpoint is no size")
        }
        guard let root = Base64.decode(lines[2]).flatMap({ Hash256($0) }), Base64.encode(root.bytes) == lines[2] else {
            throw ExportFault("the third line of the checkpoint is no root")
        }
        (origin, self.size, self.root) = (lines[0], size, root)
        extensions = Array(lines[3..<lines.count - 1])
    }
}

/// A checkpoint with signatures, as C2SP's signed-note has them (https://c2sp.org/signed-note).
public struct SignedCheckpoint: Hashable, Sendable {
    /// One line under the text. Nothing says that the signature is right before a key has verified it.
    public struct Signature: Hashable, Sendable {
        /// The name of the key.
        public let name: String
        /// The first four bytes of a hash of the key.
        public let keyID: UInt32
        /// What the key made of the text.
        public let bytes: [UInt8]

        /// The line, with its LF.
        var line: String {
            let id = withUnsafeBytes(of: keyID.bigEndian) { Array($0) }
            return "\u{2014} \(name) \(Base64.encode(id + bytes))\n"
        }
    }

    /// What is signed.
    public let checkpoint: Checkpoint
    /// The text that is signed.
    private let text: String
    /// The signatures, in order; a checkpoint of a log without a key has none.
    public private(set) var signatures: [Signature]

    /// The longest note that is read.
    static let bytesMax = 1 << 20
    private static let signaturesMax = 64

    /// A checkpoint without signatures.
    public init(_ checkpoint: Checkpoint) {
        (self.checkpoint, text, signatures) = (checkpoint, checkpoint.text, [])
    }

    /// Reads a note.
    ///
    /// - Throws: `ExportFault` if it is no note, or its text no checkpoint.
    public init(_ bytes: [UInt8]) throws {
        guard bytes.count <= Self.bytesMax, let note = String(validating: bytes, as: UTF8.self),
            note.unicodeScalars.allSatisfy({ $0.value >= 0x20 || $0 == "\n" })
        else {
            throw ExportFault("a checkpoint is UTF-8 without control characters, of at most 1 MiB")
        }
        // The last empty line ends the text. What has no signatures ends with it.
        guard let end = Self.endOfText(bytes) else { throw ExportFault("the checkpoint has no empty line") }
        text = String(decoding: bytes[..<end], as: UTF8.self)
        checkpoint = try Checkpoint(text: text)
        let lines = String(decoding: bytes[(end + 1)...], as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.last == "", lines.count <= Self.signaturesMax + 1 else {
            throw ExportFault("the checkpoint does not end with lines of signatures, at most \(Self.signaturesMax)")
        }
        signatures = try lines.dropLast().map { try Self.signature($0) }
    }

    /// The offset of the last empty line.
    private static func endOfText(_ bytes: [UInt8]) -> Int? {
        let newline = UInt8(ascii: "\n")
        return bytes.indices.dropFirst().last { bytes[$0] == newline && bytes[$0 - 1] == newline }
    }

    private static func signature(_ line: Substring) throws -> Signature {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == "\u{2014}", NoteText.isName(parts[1]),
            let bytes = Base64.decode(parts[2]), bytes.count > 4
        else {
            throw ExportFault("a line of the checkpoint is no signature")
        }
        let id = bytes[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Signature(name: parts[1], keyID: id, bytes: Array(bytes[4...]))
    }

    /// The note.
    public var note: String { text + "\n" + signatures.map(\.line).joined() }

    /// The same with the signature of a key in place of one that it made before.
    ///
    /// - Throws: `EventLogError` with code `io` if the system's library refuses.
    public func signed(by key: SigningKey) throws -> SignedCheckpoint {
        var signed = self
        signed.signatures.removeAll { key.verifier.isKey(of: $0) }
        let bytes = try key.signature(of: Array(text.utf8))
        signed.signatures.append(Signature(name: key.verifier.name, keyID: key.verifier.keyID, bytes: bytes))
        return signed
    }

    /// Checks the signatures of known keys; those of others mean nothing.
    ///
    /// - Throws: `ExportFault` unless each signature of a known key is right, and there is one.
    public func check(_ verifiers: [VerifierKey]) throws {
        var count = 0
        for verifier in verifiers {
            for signature in signatures where verifier.isKey(of: signature) {
                guard try verifier.verifies(signature.bytes, of: Array(text.utf8)) else {
                    throw ExportFault("the signature of \"\(verifier.name)\" is wrong")
                }
                count += 1
            }
        }
        guard count == 0 else { return }
        let names = verifiers.map(\.name).joined(separator: ", ")
        throw ExportFault("it has no signature of \(names)")
    }
}

/// What names in a note may be.
enum NoteText {
    /// Whether a text may name a key or a log.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255
            && text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0 != "+" && $0.value >= 0x20 }
    }
}
