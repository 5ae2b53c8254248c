import JSON

/// Proves that an event is in a log with a size and root, without the log (RFC 6962, section 2.1.1).
///
/// It says nothing about which root is to be trusted.
public struct InclusionProof: Sendable {
    /// The event's sequence; its leaf's index is one less.
    public let sequence: SequenceNumber
    /// The number of leaves of the tree.
    public let size: UInt64
    /// The root of the tree.
    public let root: Hash256
    /// The RFC 6962 leaf hash of the event.
    public let leafHash: Hash256
    /// The siblings from the leaf up to the root.
    public let path: [Hash256]
    /// The event; `nil` for a dropped one, of which only the leaf hash is known.
    public let event: RecordedEvent?
    /// The bytes that the leaf hash covers; `nil` for a dropped event.
    public let leaf: [UInt8]?
    /// For a redacted event, the act that names its substitute; `nil` if the tree is too small to contain it.
    public let act: RedactionProof?

    /// Makes a proof and checks it.
    ///
    /// - Throws: `EventLogError` with code `notFound` if the tree of `size` lacks the event or the log has fewer than
    ///   `size` events, with code `damaged` if the log is damaged.
    public init(of sequence: SequenceNumber, size: UInt64, in session: borrowing ReadSession) throws {
        self.sequence = sequence
        self.size = size
        guard sequence.rawValue <= size else {
            throw Self.error(.notFound, sequence, "it is not among the first \(size) events")
        }
        event = try session.event(at: sequence)
        leaf = event?.leaf
        leafHash = try session.leafHash(at: sequence)
        root = try session.root(size: size)
        path = try session.inclusionProof(of: sequence, size: size)
        act = try session.actRedacting(sequence).flatMap { try RedactionProof(of: $0, size: size, in: session) }
        // Checked before it leaves the log: an invalid proof means that the log is damaged (I7).
        if let fault {
            throw Self.error(.damaged, sequence, "the log is damaged: \(fault)", advice: "see: logtool verify LOG")
        }
    }

    /// Reads what `json` wrote. Nothing is proved before `fault` is `nil`.
    ///
    /// - Throws: `ExportFault` or `JSONError` for members that are those of no proof, `EventLogError` for a name beyond
    ///   its limits.
    init(_ line: ExportLine) throws {
        sequence = SequenceNumber(try line.number(.sequence))
        size = try line.number(.treeSize)
        root = try line.hash(.root)
        leafHash = try line.hash(.leafHash)
        path = try line.hashes(.proof)
        leaf = line.contains(.leaf) ? try line.bytes(.leaf) : nil
        event = try line.line(.event).map { try ExportReader.event(ofProof: $0) }
        act = try line.line(.act).map { try RedactionProof($0) }
        // RFC 6962 counts leaves from 0, sequences begin with 1.
        guard sequence > .zero, try line.number(.leafIndex) == sequence.rawValue - 1 else {
            throw ExportFault("the leaf index is not the sequence less one")
        }
        if let salt = event?.salt, line.contains(.salt), try line.bytes(.salt) != salt {
            throw ExportFault("the salt is not the event's")
        }
    }

    /// The proof as a JSON text (`docs/cli-json.md`), without LF.
    public var json: [UInt8] {
        var json = JSONWriter()
        json.begin("{")
        json.member("sequence", sequence.description)
        json.member("leafIndex", String(sequence.rawValue - 1))
        json.member("treeSize", String(size))
        json.member("root", root)
        json.member("leafHash", leafHash)
        if let leaf { json.member("leaf", base64: leaf) }
        if let salt = event?.salt { json.member("salt", base64: salt) }
        json.member("proof", path)
        if let event { json.member("event", event) }
        act?.write(to: &json)
        json.end("}")
        return json.bytes
    }

    /// Why the proof is invalid; `nil` if it holds. Recomputes every hash, down from the event's members.
    public var fault: String? {
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
    public var text: ProofCheck.Text? {
        guard let event else { return nil }
        if event.envelope.holding == .whole { return .original }
        return act == nil ? .unproved : .substitute
    }

    /// The proof's claim as a sentence.
    public var claim: String {
        let what = event == nil ? "the leaf hash of sequence \(sequence)" : "sequence \(sequence)"
        let place = "\(what) is in the log of \(size) events with the root \(root)"
        switch text {
        case .unproved: return "\(place); its text is a substitute and unproved"
        case .substitute: return "\(place); its text is a substitute that the act at \(act?.sequence ?? .zero) names"
        case .original, nil: return place
        }
    }

    private static func error(
        _ code: EventLogError.Code,
        _ sequence: SequenceNumber,
        _ reason: String,
        advice: String = ""
    ) -> EventLogError {
        EventLogError(
            code,
            operation: "prove sequence \(sequence)",
            object: "",
            reason: reason,
            advice: advice,
            sequence: sequence
        )
    }
}
