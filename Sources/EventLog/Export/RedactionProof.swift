import JSON

/// The act that names the substitute of a redacted event, with the path to the root of an `InclusionProof`.
///
/// Without it, anybody could put another text in the substitute's place: the leaf hash covers only the commitment to the
/// original.
public struct RedactionProof: Sendable {
    /// The act.
    public let event: RecordedEvent
    /// The siblings from the act's leaf up to the root.
    public let path: [Hash256]

    /// The act's sequence.
    public var sequence: SequenceNumber { event.envelope.sequence }

    /// `nil` if the tree is too small to contain the act.
    init?(of act: SequenceNumber, size: UInt64, in session: borrowing ReadSession) throws {
        guard act.rawValue <= size, let event = try session.event(at: act) else { return nil }
        self.event = event
        path = try session.inclusionProof(of: act, size: size)
    }

    /// Reads what `write` wrote.
    init(_ line: ExportLine) throws {
        guard let event = try line.line(.event) else { throw ExportFault("the act has no event") }
        self.event = try ExportReader.event(ofProof: event)
        path = try line.hashes(.proof)
    }

    /// Writes the member `act` of a proof.
    func write(to json: inout JSONWriter) {
        json.name("act")
        json.begin("{")
        json.member("proof", path)
        json.member("event", event)
        json.end("}")
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
        var names = SubstituteNames()
        event.payload.withUnsafeBytes { names.add($0, of: envelope.sequence.rawValue) }
        let sequence = redacted.envelope.sequence.rawValue
        let name = SubstituteNames.Name(sequence: sequence, hash: Hasher256.hash(redacted.payload))
        return names.act(naming: name) != nil ? nil : "its act does not name the text that stands in it"
    }
}
