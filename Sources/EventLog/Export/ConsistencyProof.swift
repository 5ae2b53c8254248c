import JSON

/// Proves that a log was a prefix of a later one (RFC 6962, section 2.1.2): nothing in its first events was altered
/// since.
public struct ConsistencyProof: Sendable {
    /// The size of the earlier tree.
    public let first: UInt64
    /// The size of the later tree.
    public let second: UInt64
    /// The root of the earlier tree.
    public let firstRoot: Hash256
    /// The root of the later tree.
    public let secondRoot: Hash256
    /// The hashes of RFC 6962, from the leaves up.
    public let path: [Hash256]

    /// Makes a proof for two sizes of a log.
    ///
    /// - Throws: `EventLogError` with code `notFound` for a size beyond the head.
    public init(from first: UInt64, to second: UInt64, in session: borrowing ReadSession) throws {
        self.first = first
        self.second = second
        path = try session.consistencyProof(from: first, to: second)
        firstRoot = try session.root(size: first)
        secondRoot = try session.root(size: second)
    }

    /// Reads what `json` wrote. Nothing is proved before `fault` is `nil`.
    init(_ line: ExportLine) throws {
        first = try line.number(.first)
        second = try line.number(.second)
        firstRoot = try line.hash(.firstRoot)
        secondRoot = try line.hash(.secondRoot)
        path = try line.hashes(.proof)
    }

    /// The proof as a JSON text (`docs/cli-json.md`), without LF.
    public var json: [UInt8] {
        var json = JSONWriter()
        json.begin("{")
        json.member("first", String(first))
        json.member("second", String(second))
        json.member("firstRoot", firstRoot)
        json.member("secondRoot", secondRoot)
        json.member("proof", path)
        json.end("}")
        return json.bytes
    }

    /// Why the proof is invalid; `nil` if it holds.
    public var fault: String? {
        let holds = MerkleTree.isConsistent(from: first, root: firstRoot, to: second, root: secondRoot, proof: path)
        return holds ? nil : "the path does not lead from the first root to the second"
    }

    /// The proof's claim as a sentence.
    public var claim: String {
        "the log of \(first) events with the root \(firstRoot) is a prefix of that of \(second) with the root \(secondRoot)"
    }
}
