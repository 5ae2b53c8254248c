#if Recorders
import EventLog
import Projections

/// A Supabase Realtime socket: joins, replies, heartbeats, changes.
///
/// A client names its channels itself. The frames of a recorded channel go to the client's channel with the same topic,
/// else to the one with the same tables, under the client's topic and references (I32). Frames of a channel that the
/// client has not joined are left out.
struct RealtimeDialect: PlayDialect {
    /// A recorded frame, sorted by what it does to the dialect.
    enum Act {
        /// The recorder joined a channel.
        case join(PhoenixText)
        /// Any other frame that the recorder sent.
        case sent
        /// The acknowledgement of a heartbeat.
        case acknowledgement(PhoenixText, [UInt8])
        /// A frame of a channel.
        case frame(PhoenixText, [UInt8])
        /// Bytes that are not a channel's frame.
        case other([UInt8])
    }

    /// A channel that the client has joined.
    private struct Channel {
        /// The client's own join.
        let join: PhoenixText
        /// True once the client got a reply to its join.
        var isAnswered = false
        /// When the join arrived.
        let since: PlayInstant
    }

    /// A recorded channel's answers to its join.
    private struct Answers {
        var reply: PhoenixText?
        var system: PhoenixText?
    }

    /// The longest wait for a client's second and later joins. The first join is waited for without a limit.
    private static let patience = Duration.seconds(2)
    /// After this time, a join that fits no recorded channel is answered anyway.
    private static let unknownPatience = Duration.seconds(1)
    /// The most channels of one client; later joins get no reply. Bounds memory against a client that joins for ever.
    private static let channelsMax = 1_000

    private var beats = PlayHeartbeats()
    private var notes: [PlayNote] = []
    /// The latest answers to the joins of recorded channels, by topic; kept across connections.
    private var answers: [String: Answers] = [:]
    /// The tables of recorded channels, by topic; kept across connections.
    private var tables: [String: Set<String>] = [:]

    // The recorded connection.
    /// The joins given so far, by topic.
    private var joins: [String: PhoenixText] = [:]
    /// Topics whose recorded reply to the join was given or passed.
    private var answered: Set<String> = []
    /// Recorded channels that the client did not join in time.
    private var unwanted: Set<String> = []

    // The client's connection.
    /// The channels that the client has joined, by its topics.
    private var channels: [String: Channel] = [:]
    /// Encoded replies that go out before anything else.
    private var replies: [[UInt8]] = []
    /// Whether the client's last frame used serializer 2.0.0 (arrays). Frames to it do the same.
    private var isArray = false

    mutating func connectionOpened() {
        (joins, answered, unwanted) = ([:], [], [])
        beats.forgetBorrowed()
    }

    mutating func wireOpened() {
        (channels, replies) = ([:], [])
        beats.forgetOwed()
    }

    mutating func read(_ frame: [UInt8], isOut: Bool) -> Act {
        guard let text = PhoenixText(frame) else { return isOut ? .sent : .other(frame) }
        if isOut { return text.event == "phx_join" ? .join(text) : .sent }
        if text.topic == "phoenix" { return .acknowledgement(text, frame) }
        return .frame(text, frame)
    }

    mutating func need(before act: Act?, at now: PlayInstant) -> PlayNeed {
        if !replies.isEmpty { return .say(replies.removeFirst()) }
        if let said = answerLate(isOver: act == nil, at: now) { return .say(said) }
        switch act {
        case .join(let join):
            // The client must join before the recorded channel's frames come. Its first join may take any time; later
            // ones may never come, because a client may need fewer channels than the recorder.
            guard channel(for: join.topic, tables: join.tables) == nil, !unwanted.contains(join.topic) else {
                return .go
            }
            return .wait(channels.isEmpty ? nil : Self.patience)
        case .frame(let text, _):
            // A capture without the recorder's frames does not show who joined.
            return channels.isEmpty && !text.topic.isEmpty ? .wait(nil) : .go
        default: return .go
        }
    }

    mutating func gaveUp(before act: Act) {
        guard case .join(let join) = act else { return }
        unwanted.insert(join.topic)
        notes.append(PlayNote(recorded: "joined \(join.topic)", client: "did not join it"))
    }

    /// Notes what a recorded frame says about channels, and returns the client's form of it.
    mutating func give(_ act: Act) -> [UInt8]? {
        switch act {
        case .join(let join):
            joins[join.topic] = join
            tables[join.topic] = join.tables
            answered.remove(join.topic)
            return nil
        case .sent: return nil
        case .other(let bytes): return bytes
        case .acknowledgement(let text, let bytes):
            let (isSent, reference) = beats.recorded()
            guard isSent else { return nil }
            return translated(text, bytes, topic: text.topic, reference: reference ?? text.reference, join: nil)
        case .frame(let text, let bytes): return give(text, bytes)
        }
    }

    /// Gives a channel's frame to the client's channel, if any, and keeps the answers to the recorded join.
    private mutating func give(_ text: PhoenixText, _ bytes: [UInt8]) -> [UInt8]? {
        // Without a recorded join (a capture of incoming frames), the first replies count as answers to it.
        let isReply = text.event == "phx_reply" && joins[text.topic].map { $0.reference == text.reference } ?? true
        if isReply, text.event == "phx_reply" {
            answers[text.topic, default: Answers()].reply = text
            answered.insert(text.topic)
        } else if text.event == "system", text.payload["status"]?.string == "ok" {
            answers[text.topic, default: Answers()].system = text
        }
        guard let own = channel(for: text.topic, tables: tables[text.topic] ?? []) else { return nil }
        guard isReply, text.event == "phx_reply" else {
            return translated(text, bytes, topic: own, reference: text.reference, join: channels[own]?.join)
        }
        defer { channels[own]?.isAnswered = true }
        return translated(text, bytes, topic: own, reference: channels[own]?.join.reference, join: channels[own]?.join)
    }

    /// Returns the frame under the client's topic and references. Returns the recorded bytes themselves if nothing
    /// differs, so that they stay byte for byte the same (I32).
    private func translated(
        _ text: PhoenixText,
        _ bytes: [UInt8],
        topic: String,
        reference: String?,
        join: PhoenixText?
    ) -> [UInt8] {
        var own = text
        (own.topic, own.reference, own.isArray) = (topic, reference, channels.isEmpty ? text.isArray : isArray)
        if text.joinReference != nil, let join { own.joinReference = join.joinReference ?? join.reference }
        let isSame =
            own.topic == text.topic && own.reference == text.reference && own.joinReference == text.joinReference
            && own.isArray == text.isArray
        return isSame ? bytes : own.bytes
    }

    /// The client's topic for a recorded channel; `nil` if the client has not joined it. Of several channels with the
    /// same tables, the least topic, so that the choice does not depend on a dictionary's order.
    private func channel(for topic: String, tables: Set<String>) -> String? {
        if channels[topic] != nil { return topic }
        guard !tables.isEmpty else { return nil }
        return channels.filter { $0.value.join.tables == tables }.keys.min()
    }

    /// The reply to a join that came after the recorded reply, or that the recording does not contain. One channel for
    /// each call, in the order of topics.
    private mutating func answerLate(isOver: Bool, at now: PlayInstant) -> [UInt8]? {
        assert(replies.isEmpty, "earlier replies go out first")
        for (topic, channel) in channels.sorted(by: { $0.key < $1.key }) where !channel.isAnswered {
            let recorded = recordedTopic(for: topic, channel)
            // The script will still bring the recorded reply to this join.
            let isComing = recorded.map { joins[$0] == nil || !answered.contains($0) } ?? false
            let isUnknown = recorded == nil && now - channel.since >= Self.unknownPatience
            guard isOver || isUnknown || (recorded != nil && !isComing) else { continue }
            channels[topic]?.isAnswered = true
            if recorded == nil { notes.append(PlayNote(recorded: "no such channel", client: "joined \(topic)")) }
            say(joining: channel.join, as: recorded.flatMap { answers[$0] } ?? Answers())
            return replies.removeFirst()
        }
        return nil
    }

    /// The recorded topic that the client's channel stands for; `nil` if the recording has no such channel so far.
    private func recordedTopic(for topic: String, _ channel: Channel) -> String? {
        if tables[topic] != nil || answers[topic] != nil { return topic }
        return tables.filter { $0.value == channel.join.tables && !$0.value.isEmpty }.keys.min()
    }

    /// Queues the two frames with which Supabase confirms a join: a `phx_reply` that numbers the bindings, and
    /// `system`. Recorded ones are used if there are any.
    private mutating func say(joining join: PhoenixText, as recorded: Answers) {
        let name = join.joinReference ?? join.reference
        let bindings = (join.payload["config"]?["postgres_changes"]?.array ?? []).enumerated().map { place, binding in
            var object = binding.object ?? JSONObject()
            object["id"] = .int(place + 1)
            return JSONValue.object(object)
        }
        var reply =
            recorded.reply
            ?? PhoenixText(
                reply: nil,
                to: name,
                topic: join.topic,
                response: .object(["postgres_changes": .array(bindings)]),
                isArray: isArray
            )
        var system = recorded.system ?? PhoenixText(system: join.topic, joinReference: nil, isArray: isArray)
        (reply.topic, reply.reference, reply.joinReference, reply.isArray) = (join.topic, join.reference, name, isArray)
        (system.topic, system.isArray) = (join.topic, isArray)
        replies += [reply.bytes, system.bytes]
    }

    mutating func hear(_ message: [UInt8], at now: PlayInstant) {
        guard let text = PhoenixText(message) else { return }
        // The serializer is negotiated in the URL (`vsn`), which the dialect does not see, so each frame shows it.
        isArray = text.isArray
        switch text.event {
        case "heartbeat" where text.topic == "phoenix": beats.owe(text.reference, at: now)
        case "phx_join":
            guard channels.count < Self.channelsMax || channels[text.topic] != nil else { return }
            channels[text.topic] = Channel(join: text, since: now)
            // The client may join late what `gaveUp` had written off.
            unwanted = unwanted.filter { $0 != text.topic && tables[$0] != text.tables }
        case "phx_leave":
            channels[text.topic] = nil
            let reply = PhoenixText(
                reply: text.reference,
                to: text.joinReference,
                topic: text.topic,
                response: .object(JSONObject()),
                isArray: isArray
            )
            replies.append(reply.bytes)
        default: break
        }
    }

    var nextDue: PlayInstant? {
        let waiting = channels.values.filter { !$0.isAnswered }.map(\.since).min().map { $0 + Self.unknownPatience }
        return [beats.due, waiting].compactMap { $0 }.min()
    }

    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [[UInt8]] {
        let beats = beats.overdue(at: now, isOver: isOver).map { reference in
            PhoenixText(
                reply: reference,
                to: nil,
                topic: "phoenix",
                response: .object(JSONObject()),
                isArray: isArray
            ).bytes
        }
        defer { replies = [] }
        return replies + beats
    }

    mutating func takeNotes() -> [PlayNote] {
        defer { notes = [] }
        return notes
    }
}
#endif
