import JSON

/// Checks entries that each bring the proof of their event, as `history --prove` and `audit --prove` print them. Needs no
/// log. All of them must be proved under one root.
///
/// An entry also brings the proofs of the earlier events that it rests on (`basis`). What the entry's other members say
/// is compared with the events by a reader that knows what events mean.
public struct ProvedEntries: Sendable {
    /// An entry whose proofs hold, for the reader.
    public struct Entry: Sendable {
        /// The entry as it stands in the file, with its proofs.
        public let json: [UInt8]
        /// The thing that the document around the entry names; `nil` if the entry itself must name it.
        public let thing: String?
        /// The names of the other members of that document, with its first entry.
        public let around: [String]
        /// The sequence of its event.
        public let sequence: SequenceNumber
        /// The proved events, its own among them, each once, in the order of the log.
        public let events: [RecordedEvent]
    }

    /// What the events say of an entry.
    public enum Finding: Sendable {
        /// A member says something else.
        case fault(String)
        /// Nothing contradicts the entry; these of its members no proved event says.
        case fits(notCovered: [String])
    }

    /// An entry whose proof fails.
    public struct Failed: Sendable {
        /// The entry's number in the file, from 1.
        public let number: Int
        /// As the entry has it; `?` if it has none.
        public let sequence: String
        /// Why it is not proved.
        public let reason: String
    }

    /// An entry with members that no proved event says.
    public struct Open: Sendable {
        /// The entry's number in the file, from 1.
        public let number: Int
        /// The sequence of its event.
        public let sequence: SequenceNumber
        /// The names of the members; of one within another, the names with dots between them.
        public let members: [String]
    }

    /// How many entries there are.
    public private(set) var count = 0
    /// The entries that are not proved, in order.
    public private(set) var failed: [Failed] = []
    /// The entries that are proved in part, in order.
    public private(set) var open: [Open] = []
    /// How many entries rest on redacted events whose substitutes acts in the proofs name.
    public private(set) var substitutes = 0
    /// Whether the entry being checked is one of these.
    private var showsSubstitute = false
    /// The root that all entries must share, with its log's size; `nil` before the first valid proof.
    public private(set) var root: KeptRoot?

    /// Reads a document, a list of documents, or one document per line; `nil` if no entry has a proof, as in a bare proof.
    ///
    /// - Parameters:
    ///   - forEnvelope: Whether the text of a redacted event may be unproved.
    ///   - read: Compares an entry with its events. Called only for entries whose proofs hold.
    public init?(_ json: [UInt8], forEnvelope: Bool, read: (Entry) -> Finding) {
        let isRead = json.withUnsafeBytes { bytes in
            guard let entries = Self.entries(in: bytes), entries.contains(where: { Self.hasProof($0.json) }) else {
                return false
            }
            for entry in entries { check(entry, forEnvelope: forEnvelope, read) }
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
    private mutating func check(_ found: Found, forEnvelope: Bool, _ read: (Entry) -> Finding) {
        count += 1
        var sequence: String?
        do {
            let entry = try ExportLine(found.json)
            sequence = entry[.sequence]?.string
            guard let reason = try fault(of: entry, found, forEnvelope: forEnvelope, read) else { return }
            failed.append(Failed(number: count, sequence: sequence ?? "?", reason: reason))
        } catch {
            failed.append(Failed(number: count, sequence: sequence ?? "?", reason: "\(error)"))
        }
    }

    /// Why an entry is not proved: a proof fails, is of another event or of another log than the entries before, or the
    /// events say something else.
    private mutating func fault(
        of entry: ExportLine,
        _ found: Found,
        forEnvelope: Bool,
        _ read: (Entry) -> Finding
    ) throws -> String? {
        guard let proof = try entry.line(.proof), proof.contains(.treeSize) else { return "it has no proof" }
        showsSubstitute = false
        let (own, reason) = try proved(proof, forEnvelope: forEnvelope)
        guard let own else { return reason }
        guard entry[.sequence]?.string == own.envelope.sequence.description else {
            return "the proof is of another event"
        }
        guard entry[.recordedAt]?.string == own.envelope.recordedAt.description else {
            return "the event was recorded at another time"
        }
        var events = [own.envelope.sequence: own]
        for (place, line) in try basis(of: entry).enumerated() {
            let (event, reason) = try proved(line, forEnvelope: forEnvelope)
            guard let event else { return "proof \(place + 1) of its basis: \(reason)" }
            events[event.envelope.sequence] = event
        }
        if showsSubstitute { substitutes += 1 }
        let sequence = own.envelope.sequence
        let proved = Entry(
            json: Array(found.json),
            thing: found.thing,
            around: found.around,
            sequence: sequence,
            events: events.values.sorted { $0.envelope.sequence < $1.envelope.sequence }
        )
        switch read(proved) {
        case .fault(let reason): return reason
        case .fits(let members):
            if !members.isEmpty { open.append(Open(number: count, sequence: sequence, members: members)) }
            return nil
        }
    }

    /// The event that a proof has; `nil` with the reason if the proof does not hold, is of another log than those before,
    /// or has no event.
    private mutating func proved(
        _ proof: ExportLine,
        forEnvelope: Bool
    ) throws -> (event: RecordedEvent?, reason: String) {
        let check = try ProofCheck(proof)
        // A proof of consistency does not hold here: it would have a size that such proofs do not have.
        guard check.holds(forEnvelope: forEnvelope), let inclusion = check.inclusion else { return (nil, check.reason) }
        if check.text == .substitute { showsSubstitute = true }
        let found = KeptRoot(size: inclusion.size, root: inclusion.root)
        let root = root ?? found
        self.root = root
        guard root == found else { return (nil, "it is of another log than the entries before") }
        return (inclusion.event, "it has no event, only a leaf hash")
    }

    /// The proofs of the events that an entry rests on beside its own.
    private func basis(of entry: ExportLine) throws -> [ExportLine] {
        guard entry.contains(.basis) else { return [] }
        guard var reader = entry.reader(of: .basis, .array) else { throw ExportFault("\"basis\" is no list") }
        var proofs: [ExportLine] = []
        try reader.enterArray()
        while try reader.nextElement() { proofs.append(try ExportLine(try reader.slice())) }
        return proofs
    }
}

// MARK: - Finding the entries

extension ProvedEntries {
    /// An entry in the file, and the thing that the document around it names.
    private struct Found {
        let json: UnsafeRawBufferPointer
        var thing: String?
        var around: [String] = []
    }

    /// The entries of one document, or of one document per line; `nil` if a line is not JSON.
    private static func entries(in text: UnsafeRawBufferPointer) -> [Found]? {
        if let entries = try? entries(ofDocument: text) { return entries }
        var all: [Found] = []
        for line in text.split(separator: UInt8(ascii: "\n")) where line.contains(where: { $0 > 0x20 }) {
            guard let entries = try? entries(ofDocument: UnsafeRawBufferPointer(rebasing: line)) else { return nil }
            all += entries
        }
        return all
    }

    /// The entries of a document of `history` or `audit`, or of a list of such documents; a bare proof is none.
    private static func entries(ofDocument text: UnsafeRawBufferPointer) throws -> [Found] {
        try DistinctNames.check(text)
        var reader = JSONReader(text)
        var entries: [Found] = []
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

    private static func entries(ofValue value: UnsafeRawBufferPointer) throws -> [Found] {
        let line = try ExportLine(value)
        if var events = line.reader(of: .events, .array) {
            let thing = line[.entity]?.string
            var entries: [Found] = []
            try events.enterArray()
            while try events.nextElement() { entries.append(Found(json: try events.slice(), thing: thing)) }
            if !entries.isEmpty { entries[0].around = try names(ofDocument: value) }
            return entries
        }
        return line.contains(.treeSize) || line.contains(.firstRoot) ? [] : [Found(json: value)]
    }

    /// The names of a document's members beside its entries and their thing.
    private static func names(ofDocument value: UnsafeRawBufferPointer) throws -> [String] {
        var reader = JSONReader(value)
        var names: [String] = []
        try reader.enterObject()
        while let name = try reader.nextMember() {
            names.append(name.string)
            try reader.skip()
        }
        return names.filter { $0 != "entity" && $0 != "events" }
    }

    private static func hasProof(_ entry: UnsafeRawBufferPointer) -> Bool {
        (try? ExportLine(entry))?.kind(of: .proof) == .object
    }
}
