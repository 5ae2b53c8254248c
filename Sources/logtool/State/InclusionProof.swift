import EventLog
import Projections

/// What proves to anybody that an event is in a log of a size and root, without the log (RFC 6962, section 2.1.1).
struct InclusionProof {
    let sequence: SequenceNumber
    let size: UInt64
    let root: Hash256
    let leafHash: Hash256
    let path: [Hash256]
    /// `nil` where the event is dropped: only its leaf hash is known.
    let event: RecordedEvent?
    /// The bytes that the leaf hash covers, where they are known.
    let leaf: [UInt8]?

    init(of sequence: SequenceNumber, size: UInt64, in session: borrowing ReadSession) throws {
        self.sequence = sequence
        self.size = size
        guard sequence.rawValue <= size else {
            throw Failure("prove sequence \(sequence): it is not among the first \(size) events", exitCode: Outcome.no)
        }
        event = try session.event(at: sequence)
        leaf = event?.leaf
        leafHash = try session.leafHash(at: sequence)
        root = try session.root(size: size)
        path = try session.inclusionProof(of: sequence, size: size)
    }

    /// Reads what `json` wrote.
    init(_ value: JSONValue) throws {
        sequence = SequenceNumber(try ExportedEvent.number(value, "sequence"))
        size = try ExportedEvent.number(value, "treeSize")
        root = try ExportedEvent.hash(value, "root")
        leafHash = try ExportedEvent.hash(value, "leafHash")
        path = try ExportedEvent.hashes(value, "proof")
        leaf = try value["leaf"] == nil ? nil : ExportedEvent.bytes(value, "leaf")
        event = try value["event"].map { try ExportedEvent.event($0) }
        guard sequence > .zero, try ExportedEvent.number(value, "leafIndex") == sequence.rawValue - 1 else {
            throw ExportedEvent.Fault(description: "the leaf index is not the sequence less one")
        }
        if let salt = event?.salt, value["salt"] != nil, try ExportedEvent.bytes(value, "salt") != salt {
            throw ExportedEvent.Fault(description: "the salt is not the event's")
        }
    }

    var json: JSONValue {
        .object([
            "sequence": .string(sequence.description),
            "leafIndex": .string(String(sequence.rawValue - 1)),
            "treeSize": .string(String(size)),
            "root": .string(Base64.encode(root.bytes)),
            "leafHash": .string(Base64.encode(leafHash.bytes)),
            "leaf": leaf.map { .string(Base64.encode($0)) },
            "salt": event?.salt.map { .string(Base64.encode($0)) },
            "proof": .array(path.map { .string(Base64.encode($0.bytes)) }),
            "event": event.map { .object(ExportedEvent.object(for: $0)) },
        ])
    }

    /// Why the proof proves nothing; `nil` where it holds.
    var fault: String? {
        if let event, event.envelope.sequence != sequence { return "the event is another sequence" }
        if let event, leaf != event.leaf { return "the leaf is not that of the event, its salt and its payload" }
        if let leaf, MerkleTree.leafHash(leaf) != leafHash { return "the leaf hash is not that of the leaf" }
        let leads = MerkleTree.isIncluded(
            leafHash: leafHash,
            at: sequence.rawValue - 1,
            size: size,
            proof: path,
            root: root
        )
        return leads ? nil : "the path does not lead from the leaf hash to the root"
    }

    /// What the proof claims, for people.
    var claim: String {
        let what = event == nil ? "the leaf hash of sequence \(sequence)" : "sequence \(sequence)"
        return "\(what) is in the log of \(size) events with the root \(root)"
    }
}

/// What proves that a log was a prefix of a later one (RFC 6962, section 2.1.2).
struct ConsistencyProof {
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

    /// Reads what `json` wrote.
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

    /// Why the proof proves nothing; `nil` where it holds.
    var fault: String? {
        let holds = MerkleTree.isConsistent(from: first, root: firstRoot, to: second, root: secondRoot, proof: path)
        return holds ? nil : "the path does not lead from the first root to the second"
    }

    /// What the proof claims, for people.
    var claim: String {
        "the log of \(first) events with the root \(firstRoot) is a prefix of that of \(second) with the root \(secondRoot)"
    }
}
