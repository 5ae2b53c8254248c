import EventLog
import JSON
import Projections

/// Checks the entries that `history --prove` and `audit --prove` print, without the log. All of them must be proved
/// under one root.
struct ProvedEntries {
    /// An entry whose proof fails.
    struct Failed {
        /// The entry's number in the file, from 1.
        let number: Int
        /// As the entry has it; `?` if it has none.
        let sequence: String
        let reason: String
    }

    private(set) var count = 0
    private(set) var failed: [Failed] = []
    /// How many entries are about redacted events whose substitute an act in the proof names.
    private(set) var substitutes = 0
    /// The size of the log that all entries must share; `nil` before the first valid proof.
    private(set) var size: UInt64?
    private(set) var root: Hash256?

    /// Reads a document, a list of documents, or one document a line; `nil` if no entry has a proof, as in a bare proof
    /// of `prove`.
    init?(_ bytes: [UInt8], name: String, forEnvelope: Bool) {
        guard let values = Self.values(in: bytes) else { return nil }
        let entries = values.flatMap(Self.entries)
        guard !entries.isEmpty, entries.contains(where: { $0["proof"]?.object != nil }) else { return nil }
        for entry in entries { check(entry, name: name, forEnvelope: forEnvelope) }
    }

    var holds: Bool { failed.isEmpty }

    /// What the proofs show, as a sentence.
    var claim: String {
        let events = count == 1 ? "1 entry: its event is" : "\(count) entries: their events are"
        let place = "in the log of \(size ?? 0) events with the root \(root?.hex ?? "")"
        let note = substitutes > 0 ? "; \(substitutes) with substitutes for their texts, which acts name" : ""
        return "\(events) \(place)\(note)"
    }

    /// Which entries fail, as a sentence.
    var reason: String {
        let shown = failed.prefix(8).map { "entry \($0.number), event \($0.sequence): \($0.reason)" }
        let more = failed.count > 8 ? " and \(failed.count - 8) more" : ""
        return "\(failed.count) of \(count) entries are not proved: \(shown.joined(separator: "; "))\(more)"
    }

    var json: JSONObject {
        [
            "holds": .bool(holds),
            "entries": .int(count),
            "treeSize": size.map { .string(String($0)) },
            "root": root.map { .string(Base64.encode($0.bytes)) },
            "claim": holds ? .string(claim) : nil,
            "failed": holds
                ? nil
                : .array(
                    failed.map { entry in
                        .object([
                            "entry": .int(entry.number), "sequence": .string(entry.sequence),
                            "reason": .string(entry.reason),
                        ])
                    }
                ),
        ]
    }

    /// Checks one entry and counts it.
    private mutating func check(_ entry: JSONValue, name: String, forEnvelope: Bool) {
        count += 1
        guard let reason = fault(of: entry, name: name, forEnvelope: forEnvelope) else { return }
        failed.append(Failed(number: count, sequence: entry["sequence"]?.string ?? "?", reason: reason))
    }

    /// Why an entry is not proved: its proof fails, is of another event, or is of another log than the entries before.
    /// Besides proofs, only sequence and time are compared with the event; the other members are `logtool`'s reading of
    /// it.
    private mutating func fault(of entry: JSONValue, name: String, forEnvelope: Bool) -> String? {
        guard let proof = entry["proof"], proof["treeSize"] != nil else { return "it has no proof" }
        let check: ProofCheck
        let inclusion: InclusionProof
        do {
            check = try ProofCheck(proof, name: name)
            guard check.holds(forEnvelope: forEnvelope) else { return check.reason }
            inclusion = try InclusionProof(proof)
        } catch {
            return "\(error)"
        }
        if check.text == .substitute { substitutes += 1 }
        guard entry["sequence"]?.string == inclusion.sequence.description else {
            return "the proof is of another event"
        }
        if let event = inclusion.event, entry["recordedAt"]?.string != event.envelope.recordedAt.description {
            return "the event was recorded at another time"
        }
        guard let size, let root else {
            (self.size, self.root) = (inclusion.size, inclusion.root)
            return nil
        }
        return size == inclusion.size && root == inclusion.root ? nil : "it is of another log than the entries before"
    }

    /// The one document, or one document a line; `nil` if a line is not JSON. Repeated names are refused: two readers
    /// could take different ones for the value.
    private static func values(in bytes: [UInt8]) -> [JSONValue]? {
        if let value = try? JSONValue.parse(bytes, allowsRepeatedNames: false) { return [value] }
        var values: [JSONValue] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.contains(where: { $0 > 0x20 }) {
            guard let value = try? JSONValue.parse(Array(line), allowsRepeatedNames: false) else { return nil }
            values.append(value)
        }
        return values
    }

    /// The entries of a document of `history` or `audit`; a bare proof is none.
    private static func entries(in value: JSONValue) -> [JSONValue] {
        if let elements = value.array { return elements.flatMap(entries) }
        if let events = value["events"]?.array { return events }
        return value["treeSize"] == nil && value["firstRoot"] == nil ? [value] : []
    }
}
