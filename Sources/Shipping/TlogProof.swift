public import EventLog
import JSON

/// Proves that an event is in the log that a checkpoint is of, in the form of C2SP's tlog-proof (https://c2sp.org/tlog-proof), which programs of
/// others check. Its extra data are the bytes that the leaf hash covers: envelope and commitment, without the payload.
public struct TlogProof: Hashable, Sendable {
    /// The event's sequence; its leaf's index is one less.
    public let sequence: SequenceNumber
    /// The checkpoint, with its signatures.
    public let checkpoint: SignedCheckpoint
    private let leaf: [UInt8]
    private let path: [Hash256]

    private static let format = "c2sp.org/tlog-proof@v1"
    /// The longest proof that is read: a checkpoint, 63 hashes and a leaf.
    private static let bytesMax = 2 << 20

    /// Makes a proof.
    ///
    /// - Throws: `EventLogError`: `invalidArgument` for a checkpoint of another log; `notFound` for an event that it does not cover, or of which only
    ///   the hash is left.
    public init(of sequence: SequenceNumber, under checkpoint: SignedCheckpoint, in session: borrowing ReadSession)
        throws
    {
        let head = checkpoint.checkpoint
        guard head.size <= session.head.rawValue, try session.root(size: head.size) == head.root else {
            throw Self.error(.invalidArgument, sequence, "the checkpoint of \(head.origin) is not of this log")
        }
        let proof = try InclusionProof(of: sequence, size: head.size, in: session)
        guard let leaf = proof.leaf else {
            throw Self.error(.notFound, sequence, "it was dropped, and nothing but its hash is left")
        }
        (self.sequence, self.checkpoint, self.leaf, path) = (sequence, checkpoint, leaf, proof.path)
    }

    private static func error(_ code: EventLogError.Code, _ sequence: SequenceNumber, _ reason: String) -> EventLogError
    {
        EventLogError(
            code,
            operation: "prove sequence",
            object: sequence.description,
            reason: reason,
            sequence: sequence
        )
    }

    /// The proof as its file.
    public var text: String {
        let lines = [Self.format, "extra \(Base64.encode(leaf))", "index \(sequence.rawValue - 1)"]
        return (lines + path.map { Base64.encode($0.bytes) }).map { $0 + "\n" }.joined() + "\n" + checkpoint.note
    }

    /// Whether a file begins as a proof does.
    public static func isProof(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Array(format.utf8)) }

    /// Reads a proof. Nothing is proved before `check`.
    ///
    /// - Throws: `ExportFault` for any other file, and for a proof without the extra data that this program writes.
    public init(_ bytes: [UInt8]) throws {
        let newline = UInt8(ascii: "\n")
        let end = bytes.indices.dropLast().first { bytes[$0] == newline && bytes[$0 + 1] == newline }
        guard bytes.count <= Self.bytesMax, let end, let text = String(validating: bytes[..<end], as: UTF8.self) else {
            throw ExportFault("it is no proof of at most 2 MiB, with an empty line")
        }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst() == Self.format[...] else { throw ExportFault("its first line is not \(Self.format)") }
        guard let extra = lines.popFirst(), extra.hasPrefix("extra "),
            let leaf = Base64.decode(String(extra.dropFirst(6)))
        else {
            throw ExportFault("it lacks the bytes that the leaf hash covers")
        }
        guard let index = lines.popFirst(), index.hasPrefix("index "), let number = UInt64(index.dropFirst(6)),
            String(number) == index.dropFirst(6), number < .max
        else {
            throw ExportFault("it has no index")
        }
        (self.leaf, sequence) = (leaf, SequenceNumber(number + 1))
        path = try lines.map { line in
            guard let hash = Base64.decode(String(line)).flatMap({ Hash256($0) }) else {
                throw ExportFault("a line of it is no hash")
            }
            return hash
        }
        checkpoint = try SignedCheckpoint(Array(bytes[(end + 2)...]))
    }

    /// Checks the proof, and the signatures of known keys.
    ///
    /// - Parameter verifiers: keys of which one must have signed the checkpoint; none to check the hashes alone.
    /// - Throws: `ExportFault` with the reason if it does not hold.
    public func check(_ verifiers: [VerifierKey]) throws {
        let head = checkpoint.checkpoint
        let leads = MerkleTree.isIncluded(
            leafHash: MerkleTree.leafHash(leaf),
            at: sequence.rawValue - 1,
            size: head.size,
            proof: path,
            root: head.root
        )
        guard leads else { throw ExportFault("the path does not lead from the leaf to the root") }
        if !verifiers.isEmpty { try checkpoint.check(verifiers) }
    }
}
