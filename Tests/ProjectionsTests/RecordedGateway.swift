import EventLog
import TestSupport

@testable import Projections

/// One recorded gateway: its decoder and the folds that its changes reach.
struct RecordedGateway {
    /// One event as a log holds it.
    struct Event {
        var envelope: Envelope
        var payload: [UInt8]
        var sequence: UInt64 { envelope.sequence.rawValue }
    }

    private(set) var names = Names()
    private(set) var decoder = GatewayDecoder()
    private(set) var channels = Channels()
    private(set) var messages = Messages()
    private(set) var community = Community()
    private(set) var issues: [String] = []
    private(set) var touched: [EntityKey] = []
    private(set) var events: [Event] = []
    private(set) var clock = Timestamp(seconds: 0)

    /// Receives one frame; the next event, `seconds` after the epoch of the tests.
    mutating func receive(
        _ frame: String,
        dir: String = "in",
        connection: String? = nil,
        seconds: Int64? = nil
    ) {
        var pairs = [Attributes.Pair(name: "dir", value: dir)]
        if let connection { pairs.append(Attributes.Pair(name: "connection", value: connection)) }
        add("gateway.frame/1", pairs, Array(frame.utf8), seconds)
    }

    /// Receives a dispatch.
    mutating func dispatch(_ name: String, _ data: String, s: Int? = nil, seconds: Int64? = nil) {
        receive(Self.frame(name, data, s: s ?? events.count + 1), seconds: seconds)
    }

    mutating func link(_ state: String) {
        add("recorder.link/1", [Attributes.Pair(name: "link", value: state)], [], nil)
    }

    static func frame(_ name: String, _ data: String, s: Int) -> String {
        #"{"op":0,"d":\#(data),"s":\#(s),"t":"\#(name)"}"#
    }

    private mutating func add(_ kind: String, _ pairs: [Attributes.Pair], _ payload: [UInt8], _ seconds: Int64?) {
        let sequence = UInt64(events.count + 1)
        guard let attributes = try? Attributes(pairs), let source = try? SourceName("guild"),
            let kind = try? EventKind(kind)
        else { return }
        let envelope = Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(seconds: seconds ?? Int64(sequence)),
            source: source,
            kind: kind,
            attributes: attributes
        )
        apply(Event(envelope: envelope, payload: payload))
    }

    mutating func apply(_ event: Event) {
        events.append(event)
        clock = max(clock, event.envelope.recordedAt)
        var context = FoldContext(
            names: names,
            event: EventReference(sequence: event.envelope.sequence, recordedAt: event.envelope.recordedAt)
        )
        var changes: [Change] = []
        event.payload.withUnsafeBytes {
            decoder.decode(event.envelope, payload: $0, into: &changes, context: &context)
        }
        for change in changes {
            channels.apply(change, in: &context)
            messages.apply(change, in: &context)
            community.apply(change, in: &context)
        }
        names = context.names
        touched = context.touched
        issues += context.reasons
    }

    var folds: [any Fold] { [channels, messages, community] }

    /// The rows of a section as canonical texts.
    func rows(_ section: Section, asOf: Timestamp? = nil) -> [String] {
        let context = RowContext(names: names, asOf: asOf ?? clock)
        return folds.flatMap { fold in
            fold.keys(in: section, names: names).compactMap { fold.row(for: $0, context: context)?.canonicalText }
        }
    }

    /// One member of each row of a section, where the row has it.
    func column(_ member: String, of section: Section) -> [String] {
        let context = RowContext(names: names, asOf: clock)
        return folds.flatMap { fold in
            fold.keys(in: section, names: names).compactMap { fold.row(for: $0, context: context)?[member]?.string }
        }
    }

    /// Every row there is, by its key.
    var allRows: [EntityKey: String] {
        let context = RowContext(names: names, asOf: clock)
        var all: [EntityKey: String] = [:]
        for fold in folds {
            for section in Section.allCases {
                for key in fold.keys(in: section, names: names) {
                    all[key] = fold.row(for: key, context: context)?.canonicalText
                }
            }
        }
        return all
    }

    func history(_ section: Section, _ first: String, _ second: String? = nil) -> [String]? {
        guard let first = names.find(first) else { return nil }
        let key = EntityKey(section, first, second.flatMap { names.find($0) } ?? .none)
        let context = RowContext(names: names, asOf: clock)
        return community.history(of: key, context: context)?.map { "\($0.sequence) \($0.change)" }
    }

    /// Everything, hidden parts included.
    var normalForm: [String] {
        let parts: [any StatePart] = [decoder, channels, messages, community]
        return parts.flatMap { $0.normalFormLines(names) }
    }

    var needed: SequenceSet {
        var sequences: SequenceSet = []
        decoder.collectNeeded(into: &sequences)
        for fold in folds { fold.collectNeeded(into: &sequences) }
        return sequences
    }

    /// The state as the policy leaves it.
    func retained(keep: Int) -> RecordedGateway {
        var scene = self
        let policy = RetentionPolicy(messagesPerChannel: keep)
        scene.channels.retain(policy, names: names)
        let head = events.last.map { SequenceNumber($0.sequence) } ?? .zero
        scene.messages.retain(policy, names: names, CompactionDecision(head: head, clock: nil))
        scene.community.retain(policy, names: names)
        return scene
    }

    /// What a compaction leaves of this (retained) state: facts, and the needed events folded anew, with new handles.
    func refolded() throws -> RecordedGateway {
        let kept = SequenceSet(events.map(\.sequence).filter { needed.contains($0) })
        var scene = RecordedGateway()
        try scene.decoder.load(facts: decoder.facts(keeping: kept, names: names), names: &scene.names)
        try scene.channels.load(facts: channels.facts(keeping: kept, names: names), names: &scene.names)
        try scene.messages.load(facts: messages.facts(keeping: kept, names: names), names: &scene.names)
        try scene.community.load(facts: community.facts(keeping: kept, names: names), names: &scene.names)
        for event in events where kept.contains(event.sequence) { scene.apply(event) }
        return scene
    }
}
