import EventLog
import JSON
import Projections

/// Proves that an event is in a log with a size and root, without the log (RFC 6962, section 2.1.1). It says nothing
/// about which root is to be trusted.
struct InclusionProof {
    let sequence: SequenceNumber
    /// The number of leaves of the tree.
    let size: UInt64
    let root: Hash256
    let leafHash: Hash256
    /// The siblings from the leaf up to the root.
    let path: [Hash256]
    /// `nil` for a dropped event, of which only the leaf hash is known.
    let event: RecordedEvent?
    /// The bytes that the leaf hash covers; `nil` for a dropped event.
    let leaf: [UInt8]?
    /// For a redacted event, the act that names its substitute; `nil` if the tree is too small to contain it.
    let act: RedactionProof?

    /// Makes a proof and checks it.
    ///
    /// - Throws: `Failure` with exit code 1 if the tree of `size` lacks the event, with exit code 3 if the log is
    ///   damaged; `EventLogError` if the log has fewer than `size` events.
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
        act = try session.actRedacting(sequence).flatMap { try RedactionProof(of: $0, size: size, in: session) }
        // Checked before it leaves the log: an invalid proof means that the log is damaged (I7).
        if let fault {
            throw Failure(
                "prove sequence \(sequence): the log is damaged: \(fault); see: logtool verify LOG",
                exitCode: Outcome.damaged
            )
        }
    }

    /// Reads what `json` wrote. Nothing is proved before `fault` is `nil`.
    ///
    /// - Throws: `ExportFault` or `EventLogError` for a value that is no proof.
    init(_ value: JSONValue) throws {
        sequence = SequenceNumber(try ExportedEvent.number(value, "sequence"))
        size = try ExportedEvent.number(value, "treeSize")
        root = try ExportedEvent.hash(value, "root")
        leafHash = try ExportedEvent.hash(value, "leafHash")
        path = try ExportedEvent.hashes(value, "proof")
        leaf = try value["leaf"] == nil ? nil : ExportedEvent.bytes(value, "leaf")
        event = try value["event"].map { try ExportedEvent.event($0) }
        act = try value["act"].map { try RedactionProof($0) }
        // RFC 6962 counts leaves from 0, sequences begin with 1.
        guard sequence > .zero, try ExportedEvent.number(value, "leafIndex") == sequence.rawValue - 1 else {
            throw ExportFault("the leaf index is not the sequence less one")
        }
        if let salt = event?.salt, value["salt"] != nil, try ExportedEvent.bytes(value, "salt") != salt {
            throw ExportFault("the salt is not the event's")
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
            "act": act?.json,
        ])
    }

    /// Why the proof is invalid; `nil` if it holds. Recomputes every hash, down from the event's members.
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
        if !leads { return "the path does not lead from the leaf hash to the root" }
        guard let act else { return nil }
        guard let event, event.envelope.holding == .redacted else {
            return "it has an act, and the event is not redacted"
        }
        return act.fault(size: size, root: root, event: event)
    }

    /// What the proof shows of the event's bytes, if it holds; `nil` without an event.
    var text: ProofCheck.Text? {
        guard let event else { return nil }
        if event.envelope.holding == .whole { return .original }
        return act == nil ? .unproved : .substitute
    }

    /// The proof's claim as a sentence.
    var claim: String {
        let what = event == nil ? "the leaf hash of sequence \(sequence)" : "sequence \(sequence)"
        let place = "\(what) is in the log of \(size) events with the root \(root)"
        switch text {
        case .unproved: return "\(place); its text is a substitute and unproved"
        case .substitute: return "\(place); its text is a substitute that the act at \(act?.sequence ?? .zero) names"
        case .original, nil: return place
        }
    }
}

/// The act that names the substitute of a redacted event, with the path to the same root. Without it, anybody could put
/// another text in the substitute's place: the leaf hash covers only the commitment to the original.
struct RedactionProof {
    let event: RecordedEvent
    let path: [Hash256]

    var sequence: SequenceNumber { event.envelope.sequence }

    /// `nil` if the tree is too small to contain the act.
    init?(of act: SequenceNumber, size: UInt64, in session: borrowing ReadSession) throws {
        guard act.rawValue <= size, let event = try session.event(at: act) else { return nil }
        self.event = event
        path = try session.inclusionProof(of: act, size: size)
    }

    /// Reads what `json` wrote.
    init(_ value: JSONValue) throws {
        guard let event = value["event"] else { throw ExportFault("the act has no event") }
        self.event = try ExportedEvent.event(event)
        path = try ExportedEvent.hashes(value, "proof")
    }

    var json: JSONValue {
        .object([
            "proof": .array(path.map { .string(Base64.encode($0.bytes)) }),
            "event": .object(ExportedEvent.object(for: event)),
        ])
    }

    /// Why the act does not prove the substitute in a tree; `nil` if it does.
    func fault(size: UInt64, root: Hash256, event redacted: RecordedEvent) -> String? {
        let envelope = event.envelope
        // Only logtool writes under this source (I1).
        guard envelope.source == .logtool, envelope.holding == .whole, envelope.sequence > .zero else {
            return "its act is no act of the log"
        }
        let leads = MerkleTree.isIncluded(
            leafHash: MerkleTree.leafHash(event.leaf),
            at: envelope.sequence.rawValue - 1,
            size: size,
            proof: path,
            root: root
        )
        guard leads else { return "the path does not lead from its act to the root" }
        let name = RewritePlan.name(ofSubstitute: redacted.payload, for: redacted.envelope.sequence)
        return event.payload.contains(Array(name.utf8)) ? nil : "its act does not name the text that stands in it"
    }
}
