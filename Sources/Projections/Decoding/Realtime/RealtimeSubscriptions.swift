import EventLog
import JSON

/// The subscribed topics, and the gaps between subscriptions (I29).
///
/// A subscription starts with a `system` frame (extension `postgres_changes`, status `ok`) and ends with `phx_error` or
/// `phx_close`. All subscriptions end when the recorder's link changes, or when it joins a topic that is still
/// subscribed: then at the last inbound frame before. A `system` frame with status `error` ends one, too.
///
/// A topic has no gap before its first subscription, unless the remote refuses it: by a reply with status `error` to
/// the join, or by a `system` frame with that status. Then the gap begins with the join.
struct RealtimeSubscriptions: Codable, Sendable {
    /// The topics that are subscribed now.
    private var subscribed: Set<String> = []
    /// The joins of topics that are not subscribed, on this connection; the last of each topic.
    private var joins: [String: Join] = [:]
    /// In the order in which they opened. Of each topic at most the last is open (`to` is `nil`).
    private(set) var gaps: [Gap] = []
    /// The places in `gaps` of the open ones, by topic.
    private var open: [String: Int] = [:]
    /// When the last frame from the remote was received; `nil` before the first. Until then the connection certainly
    /// worked.
    private var lastInbound: Timestamp?
    /// The last event accounted for. A compacted log replays kept events up to here again; they change nothing.
    private var upTo: UInt64 = 0

    private struct Join: Codable {
        /// As it is written; empty if the frame has none.
        var ref: String
        var at: Timestamp
        /// Whether it asks for changes of rows. A topic without them, such as one of presences, is never subscribed.
        var asksForChanges: Bool
    }

    init() {}

    /// Notes a frame in either direction.
    mutating func observe(
        _ frame: borrowing RealtimeFrame,
        _ bytes: UnsafeRawBufferPointer,
        isInbound: Bool,
        at event: EventReference
    ) {
        guard event.sequence.rawValue > upTo else { return }
        upTo = event.sequence.rawValue
        // Changes of rows say nothing of subscriptions, and nearly all frames are such.
        if case .message = frame.form, !(frame.event == "postgres_changes") {
            let (name, topic) = (frame.event.string, frame.topic.string)
            let ref = String(decoding: frame.ref, as: UTF8.self)
            if name == "phx_join", !isInbound {
                join(topic, Join(ref: ref, at: event.recordedAt, asksForChanges: bytes.contains("postgres_changes")))
            } else {
                observe(name, frame.payload, on: topic, ref, isInbound: isInbound, at: event.recordedAt)
            }
        }
        // Last, because a subscription that this frame ends did end at the inbound frame before it.
        if isInbound { lastInbound = event.recordedAt }
    }

    /// Ends all subscriptions: the recorder's connection opened or closed. A link event that ends nothing is not
    /// counted, so a log without subscriptions has no facts here.
    mutating func linkChanged(at event: EventReference) {
        guard event.sequence.rawValue > upTo, !subscribed.isEmpty || !joins.isEmpty else { return }
        upTo = event.sequence.rawValue
        // Refs count within one connection.
        joins = [:]
        endAll(at: event.recordedAt, reason: "the connection was lost")
    }

    private mutating func observe(
        _ name: String,
        _ payload: borrowing RealtimePayload,
        on topic: String,
        _ ref: String,
        isInbound: Bool,
        at time: Timestamp
    ) {
        switch (name, isInbound) {
        case ("system", true) where payload.extension.map { $0 == "postgres_changes" } ?? false:
            if payload.isOK {
                joins[topic] = nil
                guard subscribed.insert(topic).inserted else { return }
                if let index = open.removeValue(forKey: topic) { gaps[index].to = time }
            } else if payload.isError {
                if subscribed.contains(topic) {
                    end(topic, at: time, reason: "the subscription was lost")
                } else {
                    refuse(topic, at: time, reason: "the subscription was refused")
                }
            }
        // A reply to another request says nothing of the subscription. Without the join in the log, it may be one to
        // that.
        case ("phx_reply", true)
        where payload.isError && topic != "phoenix" && !subscribed.contains(topic)
            && joins[topic].map { $0.ref == ref && $0.asksForChanges } ?? true:
            refuse(topic, at: time, reason: "the join was refused")
        case ("phx_error", true) where joins[topic]?.asksForChanges == true:
            refuse(topic, at: time, reason: "the channel failed")
        // The server names the moment, unlike a lost connection, which shows only afterwards.
        case ("phx_error", true): end(topic, at: time, reason: "the channel failed")
        case ("phx_close", true): end(topic, at: time, reason: "the channel was closed")
        case ("phx_leave", false): joins[topic] = nil
        default: break
        }
    }

    /// Notes a join that the recorder sent. One of a subscribed topic shows that the earlier connection was lost
    /// unnoticed.
    private mutating func join(_ topic: String, _ join: Join) {
        var join = join
        if subscribed.contains(topic) {
            joins = [:]
            endAll(at: join.at, reason: "the topic was joined again")
        } else if let earlier = joins[topic] {
            // The first of several attempts is when changes began to be missed.
            join.at = earlier.at
        }
        joins[topic] = join
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
        openGap(topic, from: time, reason: reason)
    }

    /// Notes that the remote refused a topic that was never subscribed, or not since its last gap opened.
    private mutating func refuse(_ topic: String, at time: Timestamp, reason: String) {
        guard open[topic] == nil else { return }
        openGap(topic, from: joins[topic]?.at ?? time, reason: reason)
    }

    private mutating func openGap(_ topic: String, from: Timestamp, reason: String) {
        assert(open[topic] == nil, "a topic has one open gap at most")
        open[topic] = gaps.count
        gaps.append(Gap(topic: topic, from: from, to: nil, reason: reason))
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
            "joins": joins.isEmpty
                ? nil
                : .array(
                    joins.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { topic, join in
                        .array([
                            .string(topic), .string(join.ref), .int(join.at.microseconds),
                            .bool(join.asksForChanges),
                        ])
                    }
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
        // The facts of earlier programs have none.
        for join in facts["joins"]?.array ?? [] {
            guard let parts = join.array, parts.count == 4, let topic = parts[0].string, let ref = parts[1].string,
                let at = Self.time(parts[2])
            else { throw ProjectionError.facts("a join has another form") }
            joins[topic] = Join(ref: ref, at: at, asksForChanges: parts[3] == .bool(true))
        }
        for (index, gap) in self.gaps.enumerated() {
            if gap.to == nil, let topic = gap.topic { open[topic] = index }
        }
    }

    private static func time(_ value: JSONValue?) -> Timestamp? {
        value?.number?.int64.map { Timestamp(microseconds: $0) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes of a short text stand anywhere in these.
    fileprivate func contains(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            guard let first = text.first, count >= text.count else { return false }
            return (0...count - text.count).contains { start in
                self[start] == first && self[start..<start + text.count].elementsEqual(text)
            }
        }
    }
}
