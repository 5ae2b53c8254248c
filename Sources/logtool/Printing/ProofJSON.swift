import EventLog
import JSON
import Projections

extension ProofCheck {
    /// The answer for scripts (`docs/cli-json.md`). `text` is left out if the hashes fail: nothing is known of the
    /// bytes then.
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

extension ProvedEntries {
    /// The answer for scripts. `treeSize` and `root` are those that all proved entries share.
    var json: JSONObject {
        [
            "holds": .bool(holds),
            "entries": .int(count),
            "treeSize": root.map { .string(String($0.size)) },
            "root": root.map { .string(Base64.encode($0.root.bytes)) },
            "claim": holds ? .string(claim) : nil,
            "failed": holds ? nil : .array(failed.map { .object($0.json) }),
            "notCovered": open.isEmpty ? nil : .array(open.map { .object($0.json) }),
        ]
    }

    /// Tells people which members no event covers, each once with its entries, then what no proof can show.
    var gaps: [String] {
        var entries: [String: [Int]] = [:]
        for one in open {
            for member in one.members { entries[member, default: []].append(one.number) }
        }
        let members = entries.sorted { ($0.value[0], $0.key) < ($1.value[0], $1.key) }.map { member, numbers in
            let shown = numbers.prefix(8).map(String.init).joined(separator: ", ")
            let more = numbers.count > 8 ? " and \(numbers.count - 8) more" : ""
            let noun = numbers.count == 1 ? "entry" : "entries"
            return DisplayText.escaped("\(member) of \(noun) \(shown)\(more)")
        }
        return members + ["what other events say of the same things"]
    }
}

extension ProvedEntries.Open {
    /// `entry` counts from 1, in the order of the file.
    fileprivate var json: JSONObject {
        [
            "entry": .int(number), "sequence": .string(sequence.description),
            "members": .array(members.map { .string($0) }),
        ]
    }
}

extension ProvedEntries.Failed {
    /// `entry` counts from 1, in the order of the file.
    fileprivate var json: JSONObject {
        ["entry": .int(number), "sequence": .string(sequence), "reason": .string(reason)]
    }
}

extension InclusionProof {
    /// The proof as a member of a larger document: the same document as that of `prove --json`.
    func value() throws -> JSONValue { try JSONValue.parse(json) }
}
