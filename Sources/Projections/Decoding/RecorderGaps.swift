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
    /// In the order in which they opened.
    private(set) var gaps: [Gap] = []
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
        let open = gaps.lastIndex { $0.to == nil && $0.from == gap.from && $0.isNamed(as: gap) }
        // The log now holds what was missing.
        if gap.to != nil, value["closes"]?.string == "file" {
            if let open { gaps.remove(at: open) }
            return
        }
        if let open { gaps[open].to = gap.to ?? gaps[open].to } else { gaps.append(gap) }
    }

    /// Notes an event whose payload was too large to keep: a gap of one instant, since only this change is missing.
    mutating func readOversize(at event: EventReference) {
        guard take(event) else { return }
        gaps.append(Gap(topic: nil, from: event.recordedAt, to: event.recordedAt, reason: "oversize"))
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
        gaps = try list.map { fact in
            guard let gap = Gap(fact: fact) else { throw ProjectionError.facts("a gap has another form") }
            return gap
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

    fileprivate func isNamed(as other: Gap) -> Bool {
        Sameness.areSame(topic, other.topic) && Sameness.areSame(reason, other.reason)
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
