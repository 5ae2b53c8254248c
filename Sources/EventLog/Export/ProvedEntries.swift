import JSON

/// Checks entries that each bring the proof of their event, as `history --prove` and `audit --prove` print them. Needs no
/// log. All of them must be proved under one root.
///
/// Besides proofs, only sequence and time are compared with the event; an entry's other members are `logtool`'s reading
/// of it.
public struct ProvedEntries: Sendable {
    /// An entry whose proof fails.
    public struct Failed: Sendable {
        /// The entry's number in the file, from 1.
        public let number: Int
        /// As the entry has it; `?` if it has none.
        public let sequence: String
        /// Why it is not proved.
        public let reason: String
    }

    /// How many entries there are.
    public private(set) var count = 0
    /// The entries that are not proved, in order.
    public private(set) var failed: [Failed] = []
    /// How many entries are about redacted events whose substitute an act in the proof names.
    public private(set) var substitutes = 0
    /// The root that all entries must share, with its log's size; `nil` before the first valid proof.
    public private(set) var root: KeptRoot?

    /// Reads a document, a list of documents, or one document a line; `nil` if no entry has a proof, as in a bare proof.
    ///
    /// - Parameter forEnvelope: Whether the text of a redacted event may be unproved.
    public init?(_ json: [UInt8], forEnvelope: Bool) {
        let isRead = json.withUnsafeBytes { bytes in
            guard let entries = Self.entries(in: bytes), entries.contains(where: Self.hasProof) else { return false }
            for entry in entries { check(entry, forEnvelope: forEnvelope) }
            return true
        }
        guard isRead else { return nil }
    }

    /// Whether all entries are proved.
    public var holds: Bool { failed.isEmpty }

    /// What the proofs show, as a sentence.
    public var claim: String {
        let events = count == 1 ? "1 entry: its event is" : "\(count) entries: their events are"
        let place = "in the log of \(root?.size ?? 0) events with the root \(root?.root.hex ?? "")"
        let note = substitutes > 0 ? "; \(substitutes) with substitutes for their texts, which acts name" : ""
        return "\(events) \(place)\(note)"
    }

    /// Which entries fail, as a sentence.
    public var reason: String {
        let shown = failed.prefix(8).map { "entry \($0.number), event \($0.sequence): \($0.reason)" }
        let more = failed.count > 8 ? " and \(failed.count - 8) more" : ""
        return "\(failed.count) of \(count) entries are not proved: \(shown.joined(separator: "; "))\(more)"
    }
}

// MARK: - Checking

extension ProvedEntries {
    /// Checks one entry and counts it.
    private mutating func check(_ bytes: UnsafeRawBufferPointer, forEnvelope: Bool) {
        count += 1
        var sequence: String?
        do {
            let entry = try ExportLine(bytes)
            sequence = entry[.sequence]?.string
            guard let reason = try fault(of: entry, forEnvelope: forEnvelope) else { return }
            failed.append(Failed(number: count, sequence: sequence ?? "?", reason: reason))
        } catch {
            failed.append(Failed(number: count, sequence: sequence ?? "?", reason: "\(error)"))
        }
    }

    /// Why an entry is not proved: its proof fails, is of another event, or is of another log than the entries before.
    private mutating func fault(of entry: ExportLine, forEnvelope: Bool) throws -> String? {
        guard let proof = try entry.line(.proof), proof.contains(.treeSize) else { return "it has no proof" }
        let check = try ProofCheck(proof)
        // A proof of consistency does not hold here: it would have a size that such proofs do not have.
        guard check.holds(forEnvelope: forEnvelope), let inclusion = check.inclusion else { return check.reason }
        if check.text == .substitute { substitutes += 1 }
        guard entry[.sequence]?.string == inclusion.sequence.description else {
            return "the proof is of another event"
        }
        if let event = inclusion.event, entry[.recordedAt]?.string != event.envelope.recordedAt.description {
            return "the event was recorded at another time"
        }
        let found = KeptRoot(size: inclusion.size, root: inclusion.root)
        let root = root ?? found
        self.root = root
        return root == found ? nil : "it is of another log than the entries before"
    }
}

// MARK: - Finding the entries

extension ProvedEntries {
    /// The entries of one document, or of one document a line; `nil` if a line is not JSON.
    private static func entries(in text: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer]? {
        if let entries = try? entries(ofDocument: text) { return entries }
        var all: [UnsafeRawBufferPointer] = []
        for line in text.split(separator: UInt8(ascii: "\n")) where line.contains(where: { $0 > 0x20 }) {
            guard let entries = try? entries(ofDocument: UnsafeRawBufferPointer(rebasing: line)) else { return nil }
            all += entries
        }
        return all
    }

    /// The entries of a document of `history` or `audit`, or of a list of such documents; a bare proof is none.
    private static func entries(ofDocument text: UnsafeRawBufferPointer) throws -> [UnsafeRawBufferPointer] {
        try DistinctNames.check(text)
        var reader = JSONReader(text)
        var entries: [UnsafeRawBufferPointer] = []
        // Lists may be nested; each other value is a document.
        repeat {
            if try reader.kind() == .array {
                try reader.enterArray()
            } else {
                entries += try Self.entries(ofValue: try reader.slice())
            }
            while reader.depth > 0, try !reader.nextElement() {}
        } while reader.depth > 0
        return entries
    }

    private static func entries(ofValue value: UnsafeRawBufferPointer) throws -> [UnsafeRawBufferPointer] {
        let line = try ExportLine(value)
        if var events = line.reader(of: .events, .array) {
            var entries: [UnsafeRawBufferPointer] = []
            try events.enterArray()
            while try events.nextElement() { entries.append(try events.slice()) }
            return entries
        }
        return line.contains(.treeSize) || line.contains(.firstRoot) ? [] : [value]
    }

    private static func hasProof(_ entry: UnsafeRawBufferPointer) -> Bool {
        (try? ExportLine(entry))?.kind(of: .proof) == .object
    }
}
