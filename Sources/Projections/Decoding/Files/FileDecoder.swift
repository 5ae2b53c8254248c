import EventLog
import JSON
import Kinds

/// Reads the events of one source by a decoder file (`DecoderFile`), or by a registered decoder (`EventDecoder`). Without
/// either it reads nothing.
///
/// What it remembers: the events that it has seen, if the file looks for repeats; the things of sets that snapshots
/// state; the newest version of each item and row; places in the remote's order; what was kept of
/// earlier events. A compaction keeps the events of sets, items, rows and kept values, and stores the rest as facts.
struct FileDecoder: SourceDecoder {
    /// What is known of an item beside its list's state.
    struct ItemMemory: Codable, Sendable {
        var list: EntityID
        var version: Timestamp?
        /// Whether it was deleted for ever.
        var isGone = false
        /// Whether a snapshot left it out, or it was deleted until it is stated; its version then still counts.
        var isAbsent = false
        /// The event that gave the version.
        var versionSequence: UInt64
        /// The last event that stated, deleted or left out the item.
        var sequence: UInt64
    }

    /// The newest version of a row, channel or user, which its fold does not tell.
    struct RowMemory: Codable, Sendable {
        /// The greatest version that was stated.
        var version: Timestamp?
        /// The event that stated it; of a row without versions, the first.
        var sequence: UInt64
    }

    /// The file in force; not saved: set again after a load.
    private(set) var file: DecoderFile?
    /// Why the file in force cannot be read; `nil` if it can, or there is none. Not saved.
    private(set) var fault: String?
    /// The decoder that is registered for the source, and those for kinds. Not saved.
    private var registered: (any EventDecoder)?
    private var kinds: [EventKind: any EventDecoder] = [:]
    /// The registered decoder that reads the event; `nil` if the file does. Not saved.
    private var reader: (any EventDecoder)?
    /// What orders the messages of a channel, by the decoder that reads the event. Stored, because to compute it from behind a pointer
    /// copied the decoder. Not saved.
    private(set) var order = DecoderOrder.id
    /// The log's key, under which repeats are found (I26). Not saved.
    var key = FrameKey.none

    /// The first event with each dedupe key.
    private var seen = DecoderSeenKeys()
    /// The last number of each session, if the file has one that grows.
    private var sessions = DecoderSessions()
    /// The things that snapshots state as a whole.
    var sets = DecoderSets()
    var items: [EntityID: ItemMemory] = [:]
    /// By table and id.
    var rows: [MessageKey: RowMemory] = [:]
    /// The newest version of each channel and user that has one: of a channel by its id and none, of a user by scope and id.
    var versions: [MessageKey: RowMemory] = [:]
    /// The channels and users that were stated as a whole, by their keys in `versions`, with the event that stated each first:
    /// rules that make others do so only until then.
    var stated: [MessageKey: UInt64] = [:]
    /// What events with ids of their own did, and what waits for a message that they name.
    var relations = DecoderRelations()
    /// The values that `keep` stored, and what a registered decoder remembers.
    var kept = DecoderKept()
    /// The order of what has a place.
    var places = DecoderPlaces()
    /// The first and last event of each run of events that no file read.
    private var unread: [[UInt64]] = []
    /// The last event accounted for by facts. A compacted log replays kept events up to here again.
    private var upTo: UInt64 = 0
    /// The last event that was decoded.
    private var last: UInt64 = 0

    /// Whether what effects read is noted, and what those of the last event read. Not saved.
    private var isTraced = false
    private(set) var reads: [DecoderRead] = []
    /// The line of the rule that took the last event; `nil` if none did. Not saved.
    private(set) var takenLine: Int?
    /// How many changes of rows the event had so far. Not saved.
    var rowCount: UInt64 = 0
    /// Whether the last event repeated an earlier one. Not saved.
    private(set) var tookRepeat = false

    private enum CodingKeys: CodingKey {
        case seen, sessions, sets, items, rows, versions, kept, stated, relations, places, unread, upTo, last
    }

    init() {}

    /// Whether events may be read by a file, or would be if it could be read, or by a registered decoder.
    var isInForce: Bool { hasFile || registered != nil || !kinds.isEmpty }

    private var hasFile: Bool { file != nil || fault != nil }

    /// Whether events of a kind are read by the file or a registered decoder.
    func reads(_ kind: EventKind, _ family: EventFamily) -> Bool {
        guard family == .generic || family == .unknown || kind.is(.serverSentEvent) else { return false }
        if family != .unknown, hasFile { return true }
        if registered != nil { return true }
        return kinds[kind] != nil
    }

    /// The name of the decoder that reads the event.
    var name: String { reader?.name ?? file?.name ?? "" }

    /// Sets the file and the registered decoders by which the next events are read.
    mutating func use(_ decoders: Decoders, for source: SourceName) {
        (file, fault) = (decoders.rules(of: source), decoders.fault(of: source))
        (registered, kinds) = (decoders.registered.sources[source], decoders.registered.kinds)
        isTraced = decoders.traces
    }

    /// Forgets what was seen and stated, as a client does that begins anew. What was deleted for ever stays so.
    mutating func forget() {
        (seen, sessions, sets, stated) = (DecoderSeenKeys(), DecoderSessions(), DecoderSets(), [:])
        items = items.filter { $0.value.isGone }
    }

    /// Notes an event that no file reads: a compaction keeps it, for a file that may be set later.
    mutating func noteUnread(_ sequence: SequenceNumber) {
        if let end = unread.last?.last, end + 1 == sequence.rawValue {
            unread[unread.count - 1][1] = sequence.rawValue
        } else if (unread.last?.last ?? 0) < sequence.rawValue {
            unread.append([sequence.rawValue, sequence.rawValue])
        }
    }

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let isLink = envelope.kind.is(.recorderLink)
        reader = isLink ? nil : registered ?? kinds[envelope.kind]
        order = reader.map { DecoderOrder($0.messageOrdering) } ?? file?.order ?? .id
        if let reader {
            last = envelope.sequence.rawValue
            (takenLine, tookRepeat, rowCount) = (nil, false, 0)
            let event = ReceivedEvent(envelope: envelope, payload: Array(payload))
            return DecoderRun.carryOut(reader, event, &self, &changes, &context)
        }
        guard let file else {
            if isLink { return }
            if let fault { return context.issue(fault) }
            return
        }
        last = envelope.sequence.rawValue
        (takenLine, tookRepeat, rowCount) = (nil, false, 0)
        if isTraced { reads = [] }
        func refuse(_ form: String) {
            if envelope.attributes["dir"] != "out" { context.issue("decoder \(file.name): \(form)") }
        }
        guard let wrapper = file.envelope, wrapper.wraps(envelope) else {
            guard let document = Self.document(envelope, payload) else { return refuse("not one JSON text") }
            return read(document, envelope, file, into: &changes, context: &context)
        }
        guard let documents = wrapper.opened(payload).flatMap({ values in try? values.map { try JSONDocument($0) } })
        else { return refuse("no message of \(wrapper.rawValue)") }
        for document in documents { read(document, envelope, file, into: &changes, context: &context) }
    }

    private mutating func read(
        _ document: JSONDocument,
        _ envelope: Envelope,
        _ file: DecoderFile,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let isLink = envelope.kind.is(.recorderLink)
        var scope = DecoderScope(document, envelope.attributes, isLink: isLink, file.absences, isTraced: isTraced)
        // Lent: a copy would be made whole when it changes.
        scope.lend(&kept)
        defer { scope.lend(&kept) }
        if isRepeat(&scope, file, envelope.sequence.rawValue, &context.reasons) {
            tookRepeat = true
            if !context.rules.readsRepeats { return }
        }
        guard let rule = file.rules.first(where: { scope.takes($0.when) }) else { return }
        takenLine = rule.line
        if context.told != nil { scope.noteJoins() }
        DecoderRun.carryOut(rule, &scope, &self, &changes, &context)
        if let joins = scope.joins { context.joined.merge(joins) { $0 + $1 } }
        if isTraced { reads += scope.reads }
    }

    /// The payload as rules see it: JSON, of a Server-Sent Event an object of `event`, `id` and `data`; `nil` if it is
    /// not JSON.
    static func value(_ envelope: Envelope, _ payload: UnsafeRawBufferPointer) -> JSONValue? {
        if envelope.kind.is(.recorderLink) { return .object(JSONObject()) }
        guard envelope.kind.is(.serverSentEvent) else { return try? JSONValue.parse(payload) }
        let event = ServerSentEvent(payload)
        let data = event.data.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
        return .object([
            "event": event.name.map { .string(String(decoding: $0, as: UTF8.self)) },
            "data": event.data.isEmpty ? nil : .string(data),
        ])
    }

    /// The same, to be read in place: it borrows a payload that is JSON.
    private static func document(_ envelope: Envelope, _ payload: UnsafeRawBufferPointer) -> JSONDocument? {
        if envelope.kind.is(.recorderLink) || envelope.kind.is(.serverSentEvent) {
            return value(envelope, payload).flatMap { try? JSONDocument($0) }
        }
        return try? JSONDocument(payload)
    }

    /// Whether an event was seen before, by the file's rule. Notes it if not.
    private mutating func isRepeat(
        _ scope: inout DecoderScope,
        _ file: DecoderFile,
        _ sequence: UInt64,
        _ reasons: inout [String]
    ) -> Bool {
        guard let dedupe = file.dedupe, scope.takes(dedupe.when) else { return false }
        switch dedupe.rule {
        case .key(let value, let count):
            guard let text = scope.value(value)?.writtenText else { return false }
            return isRepeat(key: text, sequence, keeping: count)
        case .grows(let value, let begins, let named):
            // What a compaction has kept of earlier events had an effect.
            if sequence <= upTo { return false }
            let session = ExactText(named.flatMap { scope.value($0)?.writtenText } ?? "")
            if scope.takes(begins) { sessions[session] = nil }
            guard let found = scope.value(value) else { return false }
            guard let number = found.int64 else {
                reasons.append("decoder \(file.name): the number of the session is no whole number of 64 bits")
                return false
            }
            if let last = sessions[session], number <= last { return true }
            sessions[session] = number
            return false
        }
    }

    /// Whether a step that is done once for a value is not to be done: an earlier event had the value, and the client finds repeats.
    mutating func hasSeen(once value: String, _ context: FoldContext) -> Bool {
        var keeping = DecoderSeenKeys.countDefault
        if case .key(_, let count)? = file?.dedupe?.rule { keeping = count }
        let isRepeat = isRepeat(key: "once/" + value, context.event.sequence.rawValue, keeping: keeping)
        return isRepeat && !context.rules.readsRepeats
    }

    /// Whether an earlier event had a key. Notes it if not.
    mutating func isRepeat(key text: String, _ sequence: UInt64, keeping count: Int) -> Bool {
        let identity = ChangeIdentity(Array(text.utf8).withUnsafeBytes { key.hash($0) })
        if let first = seen[identity] { return first < sequence }
        // What a compaction has kept of earlier events was no repeat, also where its key is forgotten.
        if sequence > upTo { seen.add(identity, at: sequence, keeping: count) }
        return false
    }

    /// The events that kept what the file reads in an event, as far as their values are kept still; ascending.
    func keptEvents(readBy envelope: Envelope, payload: UnsafeRawBufferPointer) -> [UInt64] {
        guard file != nil else { return [] }
        var reader = FileDecoder()
        (reader.file, reader.key, reader.kept) = (file, key, kept.noting)
        var changes: [Change] = []
        let event = EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt)
        var context = FoldContext(names: Names(), event: event)
        reader.decode(envelope, payload: payload, into: &changes, context: &context)
        return reader.kept.readEvents.filter { $0 < envelope.sequence.rawValue }
    }

    // MARK: - Compactions

    func collectNeeded(into sequences: inout SequenceSet) {
        sets.collectNeeded(into: &sequences)
        for item in items.values {
            sequences.insert(item.sequence)
            if item.version != nil { sequences.insert(item.versionSequence) }
        }
        for memory in [rows.values, versions.values].joined() { sequences.insert(memory.sequence) }
        for sequence in stated.values { sequences.insert(sequence) }
        relations.collectNeeded(into: &sequences)
        kept.collectNeeded(into: &sequences)
        for run in unread { for sequence in run[0]...run[1] { sequences.insert(sequence) } }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        take(facts(keeping: [], names: names, all: true))
        sets.normalForm(names: names, into: take)
        take(relations.waitingForm(names))
        if let form = kept.normalForm { take(form) }
        for key in stated.keys.sorted(by: { $0.precedes($1, names) }) {
            take(.array([.string(names.text(key.channel)), .string(names.text(key.id))]))
        }
        for memories in [rows, versions] {
            for (key, memory) in memories.sorted(by: { $0.key.precedes($1.key, names) }) {
                let version = memory.version?.normalForm ?? .null
                take(.array([.string(names.text(key.channel)), .string(names.text(key.id)), version]))
            }
        }
        let sorted = items.map { (id: names.text($0.key), item: $0.value) }.sorted { ExactText.precedes($0.id, $1.id) }
        for (id, item) in sorted {
            take(
                .array([
                    .string(id), .string(names.text(item.list)), item.version?.normalForm ?? .null,
                    .bool(item.isGone), .bool(item.isAbsent),
                ])
            )
        }
    }

    /// The repeats, and what the events with ids did that are not kept: sets and items follow from the events that are.
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { facts(keeping: kept, names: names, all: false) }

    /// - Parameter all: whether what kept events give is among them, and nothing of when it was, as normal forms demand.
    private func facts(keeping kept: SequenceSet, names: Names, all: Bool) -> JSONValue {
        let related = relations.facts(keeping: kept, names: names, all: all)
        let placed = places.facts(names)
        let left = all ? [] : sets.facts(keeping: kept, names: names)
        if seen.isEmpty, sessions.isEmpty, related.isEmpty, placed.isEmpty, left.isEmpty { return .null }
        return .object([
            "upTo": all ? nil : .string(String(max(upTo, last))),
            "relations": related.isEmpty ? nil : .array(related),
            "places": placed.isEmpty ? nil : .array(placed),
            "left": left.isEmpty ? nil : .array(left),
            "sessions": sessions.isEmpty ? nil : .array(sessions.facts),
            "seen": .array(seen.all.map { .array([$0.key.normalForm, .string(String($0.sequence))]) }),
        ])
    }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        guard let upTo = facts["upTo"]?.string.flatMap({ UInt64($0) }), let list = facts["seen"]?.array else {
            throw ProjectionError.facts("what a decoder file remembers has another form")
        }
        self.upTo = upTo
        // Facts of an earlier program name the number of the one session that it knew.
        sessions[ExactText("")] = facts["lastNumber"]?.number?.int64
        try sessions.load(facts: facts["sessions"])
        try relations.load(facts: facts["relations"], names: &names)
        try places.load(facts: facts["places"], names: &names)
        try sets.load(facts: facts["left"], names: &names)
        for fact in list {
            guard let hash = fact.array?.first?.string.flatMap({ UInt128($0) }),
                let sequence = fact.array?.last?.string.flatMap({ UInt64($0) })
            else { throw ProjectionError.facts("a seen event has another form") }
            seen.add(ChangeIdentity(hash), at: sequence, keeping: .max)
        }
    }
}
