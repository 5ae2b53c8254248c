import EventLog
import JSON
import Projections
import Shipping

extension ProveCommand {
    /// Prints a proof that programs of others check.
    ///
    /// - Throws: `Failure` with exit code 2 for a file that is no checkpoint; as `TlogProof.init`.
    func printTlogProof(of sequence: SequenceNumber, under file: String, _ session: borrowing ReadSession) throws {
        let signed: SignedCheckpoint
        do {
            signed = try SignedCheckpoint(try InputFile.bytes(at: file))
        } catch let fault as ExportFault {
            throw Failure("read checkpoint \"\(file)\": \(fault)")
        }
        let output = output.standardOutput
        try output.write(Array(TlogProof(of: sequence, under: signed, in: session).text.utf8))
        try output.flush()
    }

    /// Checks such a proof.
    ///
    /// - Throws: `Failure` with exit code 1 if it does not hold, with 2 if the file is no proof.
    func reportTlogProof(_ bytes: [UInt8], _ file: String) throws {
        let proof: TlogProof
        do {
            proof = try TlogProof(bytes)
        } catch let fault as ExportFault {
            throw Failure("check proof \"\(file)\": \(fault)")
        }
        do {
            try proof.check(verifier.map { try VerifierKey($0) })
        } catch let fault as ExportFault {
            throw Failure("check proof \"\(file)\": it does not hold: \(fault)", exitCode: Outcome.no)
        }
        let head = proof.checkpoint.checkpoint
        let output = output.standardOutput
        if document.json {
            let members: JSONObject = [
                "holds": .bool(true),
                "sequence": .string(proof.sequence.description),
                "origin": .string(head.origin),
                "treeSize": .string(String(head.size)),
                "root": .string(Base64.encode(head.root.bytes)),
                "verified": .bool(!verifier.isEmpty),
            ]
            try output.line(JSONValue.object(members).text)
        } else {
            let signed = verifier.isEmpty ? "; no signature was asked for" : ", signed as asked"
            try output.line(
                "holds: event \(proof.sequence) is in the log \(DisplayText.escaped(head.origin)) of \(head.size) events with the root "
                    + "\(head.root)\(signed)"
            )
        }
        try output.flush()
    }
}
