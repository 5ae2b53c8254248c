public import EventLog

/// A time in which a source may have missed changes (I29).
public struct Gap: Codable, Hashable, Sendable {
    /// The affected part of the source, such as a channel's topic; `nil` for the whole source.
    public let topic: String?
    /// The last instant before the gap at which the recorder is known to have listened.
    public let from: Timestamp
    /// The instant from which nothing more is missed; `nil` while the gap is open.
    public internal(set) var to: Timestamp?
    /// Why the gap exists, in a few words.
    public let reason: String
    /// The remote's numbers that never arrived, if the remote numbers what it sends; ascending within a connection.
    public internal(set) var numbers: [ClosedRange<Int64>] = []
}

/// The gaps that recorders report: `recorder.gap/1`, and payloads too large to keep (`recorder.oversize/1`).
///
/// An event with the same topic, reason and beginning, and an end, closes a gap. Facts contain every gap, so no event
/// is kept for them.
struct RecorderGaps: StatePart {
    /// What the events that open and close a gap have in common, byte for byte.
    private struct Name: Codable, Hashable {
        let topic: ExactText?
        let reason: ExactText
        let from: Timestamp

        init(_ gap: Gap) {
            (topic, reason, from) = (gap.topic.map { ExactText($0) }, ExactText(gap.reason), gap.from)
        }
    }

    /// By their numbers, which ascend in the order in which they opened.
    private var known: [UInt64: Gap] = [:]
    /// The numbers of the gaps with a name that have no end, the newest last.
    private var open: [Name: [UInt64]] = [:]
    /// The number of the next gap.
    private var nextNumber: UInt64 = 0
    /// Whether the last link of a live recorder was opened and not closed, as the log says. A killed recorder cannot
    /// say that it ended; `LogState.gaps(lastSigns:)` is told.
    private(set) var isConnected = false
    /// The last event accounted for. A compacted log replays kept events up to here again; they change nothing.
    private var upTo: UInt64 = 0

    init() {}

    /// Reads the event that opens or closes a gap. A closing event whose opening is not in the log makes a closed gap.
    mutating func read(_ payload: UnsafeRawBufferPointer, context: inout FoldContext) {
        guard let value = try? JSONValue.parse(payload), let gap = Gap(value) else {
            return context.issue("gap: it has another form")
        }
        guard take(context.event) else { return }
        let number = open[Name(gap)]?.last
        // The log now holds what was missing.
        if gap.to != nil, value["closes"]?.string == "file" {
            if let number { known[number] = nil }
        } else if let number, gap.to != nil {
            known[number] = gap
        } else if number == nil {
            return add(gap)
        }
        // A gap without an end leaves the one that is open as it is.
        if gap.to != nil { close(gap) }
    }

    /// In the order in which they opened.
    var gaps: [Gap] { known.sorted { $0.key < $1.key }.map(\.value) }

    private mutating func add(_ gap: Gap) {
        known[nextNumber] = gap
        if gap.to == nil { open[Name(gap), default: []].append(nextNumber) }
        nextNumber += 1
    }

    /// Notes that the newest open gap with a name is open no more.
    private mutating func close(_ gap: Gap) {
        let name = Name(gap)
        open[name]?.removeLast()
        if open[name]?.isEmpty == true { open[name] = nil }
    }

    /// Notes an event whose payload was too large to keep: a gap of one instant, since only this change is missing.
    mutating func readOversize(at event: EventReference) {
        guard take(event) else { return }
        add(Gap(topic: nil, from: event.recordedAt, to: event.recordedAt, reason: "oversize"))
    }

    /// Notes a link. Captures give theirs no name, and those of HARs are of a browser.
    mutating func readLink(_ envelope: Envelope) {
        guard envelope.attributes["connection"] != nil, envelope.attributes["by"] == nil,
            envelope.sequence.rawValue > upTo
        else { return }
        upTo = envelope.sequence.rawValue
        isConnected = envelope.attributes["link"] == "open"
    }

    /// Notes an event; false if the loaded facts account for it already.
    private mutating func take(_ event: EventReference) -> Bool {
        guard event.sequence.rawValue > upTo else { return false }
        upTo = event.sequence.rawValue
        return true
    }

    func collectNeeded(into sequences: inout SequenceSet) {}

    func normalForm(names: Names, into take: (JSONValue) -> Void) { take(facts) }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { facts }

    private var facts: JSONValue {
        if upTo == 0 { return .null }
        return .object([
            "upTo": .string(String(upTo)),
            "gaps": .array(gaps.map(\.fact)),
            "isConnected": isConnected ? .bool(true) : nil,
        ])
    }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        guard let upTo = facts["upTo"]?.string.flatMap(UInt64.init), let list = facts["gaps"]?.array else {
            throw ProjectionError.facts("gaps have another form")
        }
        self.upTo = upTo
        // The facts of earlier programs do not say it.
        isConnected = facts["isConnected"] == .bool(true)
        (known, open) = ([:], [:])
        for fact in list {
            guard let gap = Gap(fact: fact) else { throw ProjectionError.facts("a gap has another form") }
            add(gap)
        }
    }
}

extension Gap {
    /// Reads the payload of a recorder's event.
    fileprivate init?(_ value: JSONValue) {
        guard let reason = value["reason"]?.string,
            let from = value["from"]?.string.flatMap({ Timestamp(rfc3339: $0) })
        else { return nil }
        let to = value["to"]?.string.flatMap { Timestamp(rfc3339: $0) }
        self.init(topic: value["topic"]?.string, from: from, to: to, reason: reason)
    }

    /// The gap as a compaction stores it, times in microseconds.
    var fact: JSONValue {
        .object([
            "topic": .text(topic),
            "from": .int(from.microseconds),
            "to": to.map { .int($0.microseconds) },
            "reason": .string(reason),
        ])
    }

    /// Reads what `fact` wrote; `nil` for anything else.
    init?(fact: JSONValue) {
        guard let from = fact["from"]?.number?.int64, let reason = fact["reason"]?.string else { return nil }
        self.init(
            topic: fact["topic"]?.string,
            from: Timestamp(microseconds: from),
            to: fact["to"]?.number?.int64.map { Timestamp(microseconds: $0) },
            reason: reason
        )
    }
}
