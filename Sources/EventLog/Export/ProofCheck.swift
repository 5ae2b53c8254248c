import JSON

/// The result of checking a proof of either form: a proof of inclusion or of consistency. It needs no log.
public struct ProofCheck: Sendable {
    /// What the proof shows of the event's bytes.
    public enum Text: String, Sendable {
        /// They are what the remote sent.
        case original
        /// They are a substitute that an act of the log names; the act is in the proof.
        case substitute
        /// They are a substitute, and nothing in the proof ties it to the log.
        case unproved
    }

    /// Why the proof is invalid; `nil` if all of its claims hold, with the possible exception of the text.
    public let fault: String?
    /// The proof's claim as a sentence.
    public let claim: String
    /// `nil` if the proof has no event's bytes.
    public let text: Text?
    /// The proof, if it is one of inclusion and can be read.
    public let inclusion: InclusionProof?

    /// Reads a proof and checks it. An invalid proof is no error: `fault` says why.
    ///
    /// - Throws: `ExportFault` if the bytes are not a proof.
    public init(_ json: [UInt8]) throws {
        self = try json.withUnsafeBytes { bytes in
            do throws(JSONError) { try DistinctNames.check(bytes) } catch { throw ExportFault(error.description) }
            return try ExportReader.read(bytes) { try ProofCheck($0) }
        }
    }

    /// Checks a proof whose objects are known to have distinct names.
    ///
    /// - Throws: `ExportFault` if the members are not those of a proof.
    init(_ line: ExportLine) throws {
        guard line.contains(.treeSize) || line.contains(.firstRoot) else {
            throw ExportFault("it is none, as prove --json writes them")
        }
        do {
            if line.contains(.firstRoot) {
                let proof = try ConsistencyProof(line)
                self.init(fault: try line.fault(against: proof.json) ?? proof.fault, claim: proof.claim)
            } else {
                let proof = try InclusionProof(line)
                let fault = try line.fault(against: proof.json) ?? proof.fault
                self.init(fault: fault, claim: proof.claim, text: proof.text, inclusion: proof)
            }
        } catch let fault as ExportFault {
            self.init(fault: fault.description)
        } catch let error as JSONError {
            self.init(fault: error.description)
        } catch let error as EventLogError {
            self.init(fault: error.reason)
        }
    }

    private init(fault: String?, claim: String = "", text: Text? = nil, inclusion: InclusionProof? = nil) {
        (self.fault, self.claim, self.text, self.inclusion) = (fault, claim, text, inclusion)
    }

    /// True if the proof holds. With `forEnvelope`, an unproved text is accepted.
    public func holds(forEnvelope: Bool) -> Bool {
        fault == nil && (text != .unproved || forEnvelope)
    }

    /// Why `holds` is false, with and without `forEnvelope`.
    public var reason: String {
        fault ?? "the envelope holds; the text is a substitute that nothing in the proof ties to the log"
    }
}

extension ExportLine {
    /// Why a proof has more than what was read and checked; `nil` if it has not. A reader of the file must be able to
    /// take every member for proved.
    fileprivate func fault(against written: [UInt8]) throws -> String? {
        let hasOnlyOwn = try ExportReader.read(written) { try isSame(as: $0) }
        return hasOnlyOwn ? nil : "it has members, or forms of them, that prove --json does not write"
    }

    /// Whether an object has the same members with the same values as one that this program wrote. The order of the
    /// members and the escapes of texts do not count, and the hashes of a path and its ends may be spelled in hex.
    private func isSame(as written: ExportLine) throws -> Bool {
        guard !hasOthers else { return false }
        return try Member.allCases.allSatisfy { try isSame($0, as: written) }
    }

    private func isSame(_ member: Member, as written: ExportLine) throws -> Bool {
        guard kind(of: member) == written.kind(of: member) else { return false }
        if !contains(member) { return true }
        switch member {
        case .root, .leafHash, .firstRoot, .secondRoot: return try hash(member) == written.hash(member)
        case .proof: return try hashes(member) == written.hashes(member)
        case .attributes: return try attributes() == written.attributes()
        case .event, .act:
            guard let part = try line(member), let own = try written.line(member) else { return false }
            return try part.isSame(as: own)
        case .redacted: return try isTrue(member) == written.isTrue(member)
        default:
            // This program writes no other value in a proof than texts.
            guard let text = self[member], let own = written[member] else { return false }
            return text.saysSame(as: own)
        }
    }
}
