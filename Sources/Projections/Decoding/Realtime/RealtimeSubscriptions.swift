import EventLog
import JSON

/// The subscribed topics, and the gaps between subscriptions (I29).
///
/// A subscription starts with a `system` frame (extension `postgres_changes`, status `ok`) and ends with `phx_error` or
/// `phx_close`. All subscriptions end when the recorder's link changes, or when it joins a topic that is still
/// subscribed: then at the last inbound frame before. A topic has no gap before its first subscription.
struct RealtimeSubscriptions: Codable, Sendable {
    /// The topics that are subscribed now.
    private var subscribed: Set<String> = []
    /// In the order in which they opened. Of each topic at most the last is open (`to` is `nil`).
    private(set) var gaps: [Gap] = []
    /// When the last frame from the remote was received; `nil` before the first. Until then the connection certainly
    /// worked.
    private var lastInbound: Timestamp?
    /// The last event accounted for. A compacted log replays kept events up to here again; they change nothing.
    private var upTo: UInt64 = 0

    init() {}

    /// Notes a frame in either direction.
    mutating func observe(_ frame: borrowing RealtimeFrame, isInbound: Bool, at event: EventReference) {
        guard event.sequence.rawValue > upTo else { return }
        upTo = event.sequence.rawValue
        // Changes of rows say nothing of subscriptions, and nearly all frames are such.
        if case .message = frame.form, !(frame.event == "postgres_changes") {
            let (name, topic) = (frame.event.string, frame.topic.string)
            observe(name, frame.payload, on: topic, isInbound: isInbound, at: event.recordedAt)
        }
        // Last, because a subscription that this frame ends did end at the inbound frame before it.
        if isInbound { lastInbound = event.recordedAt }
    }

    /// Ends all subscriptions: the recorder's connection opened or closed. A link event that ends nothing is not
    /// counted, so a log without subscriptions has no facts here.
    mutating func linkChanged(at event: EventReference) {
        guard event.sequence.rawValue > upTo, !subscribed.isEmpty else { return }
        upTo = event.sequence.rawValue
        endAll(at: event.recordedAt, reason: "the connection was lost")
    }

    private mutating func observe(
        _ name: String,
        _ payload: borrowing RealtimePayload,
        on topic: String,
        isInbound: Bool,
        at time: Timestamp
    ) {
        switch (name, isInbound) {
        case ("system", true)
        where payload.extension.map { $0 == "postgres_changes" } ?? false && payload.status.map { $0 == "ok" } ?? false:
            guard subscribed.insert(topic).inserted else { return }
            if let index = gaps.lastIndex(where: { $0.topic == topic && $0.to == nil }) { gaps[index].to = time }
        // The server names the moment, unlike a lost connection, which shows only afterwards.
        case ("phx_error", true): end(topic, at: time, reason: "the channel failed")
        case ("phx_close", true): end(topic, at: time, reason: "the channel was closed")
        // A join of a subscribed topic shows that the earlier connection was lost unnoticed.
        case ("phx_join", false) where subscribed.contains(topic):
            endAll(at: time, reason: "the topic was joined again")
        default: break
        }
    }

    /// Ends all subscriptions at the last inbound frame, or at `time` if none came. Sorted by topic, because gaps are
    /// listed in order and a `Set` has none (I10).
    private mutating func endAll(at time: Timestamp, reason: String) {
        for topic in subscribed.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            end(topic, at: lastInbound ?? time, reason: reason)
        }
        assert(subscribed.isEmpty, "a lost connection ends every subscription")
    }

    private mutating func end(_ topic: String, at time: Timestamp, reason: String) {
        guard subscribed.remove(topic) != nil else { return }
        gaps.append(Gap(topic: topic, from: time, to: nil, reason: reason))
    }
}

extension RealtimeSubscriptions {
    /// Everything; `null` if no frame was seen.
    var facts: JSONValue {
        if upTo == 0 { return .null }
        return .object([
            "upTo": .string(String(upTo)),
            "lastInbound": lastInbound.map { .int($0.microseconds) },
            "subscribed": .array(
                subscribed.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { .string($0) }
            ),
            "gaps": .array(gaps.map(\.fact)),
        ])
    }

    /// Reads what `facts` wrote, except null.
    init(facts: JSONValue) throws {
        guard let upTo = facts["upTo"]?.string.flatMap(UInt64.init), let topics = facts["subscribed"]?.array,
            let gaps = facts["gaps"]?.array
        else { throw ProjectionError.facts("subscriptions have another form") }
        self.upTo = upTo
        lastInbound = Self.time(facts["lastInbound"])
        subscribed = Set(topics.compactMap(\.string))
        self.gaps = try gaps.map { gap in
            guard let gap = Gap(fact: gap) else { throw ProjectionError.facts("a gap has another form") }
            return gap
        }
    }

    private static func time(_ value: JSONValue?) -> Timestamp? {
        value?.number?.int64.map { Timestamp(microseconds: $0) }
    }
}
