import EventLog
import JSON
import Projections

/// Proves that a log was a prefix of a later one (RFC 6962, section 2.1.2): nothing in its first events was altered
/// since.
struct ConsistencyProof {
    /// The sizes of the two trees.
    let first: UInt64
    let second: UInt64
    let firstRoot: Hash256
    let secondRoot: Hash256
    let path: [Hash256]

    init(from first: UInt64, to second: UInt64, in session: borrowing ReadSession) throws {
        self.first = first
        self.second = second
        path = try session.consistencyProof(from: first, to: second)
        firstRoot = try session.root(size: first)
        secondRoot = try session.root(size: second)
    }

    /// Reads a proof that `json` wrote.
    init(_ value: JSONValue) throws {
        first = try ExportedEvent.number(value, "first")
        second = try ExportedEvent.number(value, "second")
        firstRoot = try ExportedEvent.hash(value, "firstRoot")
        secondRoot = try ExportedEvent.hash(value, "secondRoot")
        path = try ExportedEvent.hashes(value, "proof")
    }

    var json: JSONValue {
        .object([
            "first": .string(String(first)),
            "second": .string(String(second)),
            "firstRoot": .string(Base64.encode(firstRoot.bytes)),
            "secondRoot": .string(Base64.encode(secondRoot.bytes)),
            "proof": .array(path.map { .string(Base64.encode($0.bytes)) }),
        ])
    }

    /// Why the proof is invalid; `nil` if it holds.
    var fault: String? {
        let holds = MerkleTree.isConsistent(from: first, root: firstRoot, to: second, root: secondRoot, proof: path)
        return holds ? nil : "the path does not lead from the first root to the second"
    }

    /// The proof's claim as a sentence.
    var claim: String {
        "the log of \(first) events with the root \(firstRoot) is a prefix of that of \(second) with the root \(secondRoot)"
    }
}
