import EventLog
import JSON
import Projections

/// The result of checking a proof of either form: a proof of inclusion or of consistency. It needs no log.
struct ProofCheck {
    /// What the proof shows of the event's bytes.
    enum Text: String {
        /// They are what the remote sent.
        case original
        /// They are a substitute that an act of the log names; the act is in the proof.
        case substitute
        /// They are a substitute, and nothing in the proof ties it to the log.
        case unproved
    }

    /// Why the proof is invalid; `nil` if all of its claims hold, with the possible exception of the text.
    let fault: String?
    /// The proof's claim as a sentence.
    let claim: String
    /// `nil` if the proof has no event's bytes.
    let text: Text?

    /// Reads a proof and checks it. An invalid proof is no error: `fault` says why.
    ///
    /// - Throws: `Failure` if the bytes are not a proof.
    init(_ bytes: [UInt8], name: String) throws {
        let value: JSONValue
        do {
            value = try JSONValue.parse(bytes, allowsRepeatedNames: false)
        } catch {
            throw Failure("check proof \"\(name)\": \(error)")
        }
        try self.init(value, name: name)
    }

    /// Checks a proof that was read already.
    ///
    /// - Throws: `Failure` if the value is not a proof.
    init(_ value: JSONValue, name: String) throws {
        guard value["treeSize"] != nil || value["firstRoot"] != nil else {
            throw Failure("check proof \"\(name)\": it is none, as prove --json writes them")
        }
        do {
            if value["firstRoot"] != nil {
                let proof = try ConsistencyProof(value)
                self.init(fault: value.fault(against: proof.json) ?? proof.fault, claim: proof.claim, text: nil)
            } else {
                let proof = try InclusionProof(value)
                self.init(fault: value.fault(against: proof.json) ?? proof.fault, claim: proof.claim, text: proof.text)
            }
        } catch let fault as ExportFault {
            self.init(fault: fault.description, claim: "", text: nil)
        } catch let error as EventLogError {
            self.init(fault: error.reason, claim: "", text: nil)
        }
    }

    private init(fault: String?, claim: String, text: Text?) {
        (self.fault, self.claim, self.text) = (fault, claim, text)
    }

    /// True if the proof holds. With `forEnvelope`, an unproved text is accepted.
    func holds(forEnvelope: Bool) -> Bool {
        fault == nil && (text != .unproved || forEnvelope)
    }

    /// Why `holds` is false, with and without `forEnvelope`.
    var reason: String {
        fault ?? "the envelope holds; the text is a substitute that nothing in the proof ties to the log"
    }

    /// The answer for scripts.
    func json(forEnvelope: Bool) -> JSONObject {
        let holds = holds(forEnvelope: forEnvelope)
        return [
            "holds": .bool(holds),
            "text": fault == nil ? .text(text?.rawValue) : nil,
            "reason": .text(holds ? nil : reason),
            "claim": .text(holds ? claim : nil),
        ]
    }
}

extension JSONValue {
    /// Why a proof has more than what was read and checked; `nil` if it has not. A reader of the file must be able to
    /// take every member for proved.
    fileprivate func fault(against read: JSONValue) -> String? {
        normalized == read ? nil : "it has members, or forms of them, that prove --json does not write"
    }

    /// The proof with all hashes in base64, since hex is accepted as well.
    private var normalized: JSONValue {
        guard case .object(var members) = self else { return self }
        for name in ["root", "leafHash", "firstRoot", "secondRoot"] {
            if let value = members[name] { members[name] = value.inBase64 }
        }
        if let path = members["proof"]?.array { members["proof"] = .array(path.map(\.inBase64)) }
        if let act = members["act"] { members["act"] = act.normalized }
        return .object(members)
    }

    private var inBase64: JSONValue {
        string.flatMap(Hash256.init(spelled:)).map { .string(Base64.encode($0.bytes)) } ?? self
    }
}
