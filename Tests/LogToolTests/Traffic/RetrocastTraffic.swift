import EventLog
import TestSupport

/// Forty people in twenty channels, over a gateway whose connection breaks now and then and is resumed.
struct RetrocastTraffic: AppTraffic {
    private struct Message {
        let id: Int
        let channel: Int
        let author: Int
    }

    private static let guild = 135_653_857_689_735_168
    private static let channels = 20
    /// Of older messages nobody speaks any more.
    private static let remembered = 400

    private var waiting: [TrafficEvent] = []
    private var messages: [Message] = []
    private var recent: [String] = []
    private var sent = 0
    private var hasBegun = false

    mutating func next(
        _ number: Int,
        at time: Timestamp,
        isAfterBug: Bool,
        using random: inout SeededGenerator
    ) throws -> TrafficEvent {
        if !hasBegun { begin() }
        if waiting.isEmpty, random.below(1500) == 0 { reconnect() }
        if !waiting.isEmpty { return waiting.removeFirst() }
        switch random.draw([70, 10, 4, 4, 5, 3, 2, 2]) {
        case 1: return edit(at: time, using: &random)
        case 2: return delete(using: &random)
        case 3: return react(using: &random)
        case 4: return type(at: time, using: &random)
        case 5: return joining(number, using: &random)
        case 6: return out(#"{"op":1,"d":\#(sent)}"#)
        case 7: return incoming(#"{"op":11}"#)
        default: return create(number, at: time, using: &random)
        }
    }

    // MARK: - Connections

    private mutating func begin() {
        hasBegun = true
        waiting = [.link("open"), incoming(#"{"op":10,"d":{"heartbeat_interval":41250}}"#)]
        waiting.append(out(#"{"op":2,"d":{"token":"[redacted]"}}"#))
        waiting.append(
            dispatch(
                "READY",
                #"{"session_id":"5e0c4c38-58b1-4f53-9a58-3f0a5a7b6c11","user_id":"135276370329735168","#
                    + #""guilds":[\#(Self.guild)],"read_states":null}"#
            )
        )
        for channel in 0..<Self.channels {
            waiting.append(
                dispatch(
                    "CHANNEL_CREATE",
                    #"{"id":"\#(Self.id(ofChannel: channel))","guild_id":"\#(Self.guild)","name":"room-\#(channel)","#
                        + #""type":0,"position":\#(channel)}"#
                )
            )
        }
    }

    /// A session is resumed: the server sends the last frames again, with the numbers of the new connection.
    private mutating func reconnect() {
        waiting = [.link("close"), .link("open"), incoming(#"{"op":10,"d":{"heartbeat_interval":41250}}"#)]
        waiting.append(
            out(
                #"{"op":6,"d":{"token":"[redacted]","session_id":"5e0c4c38-58b1-4f53-9a58-3f0a5a7b6c11","seq":\#(sent)}}"#
            )
        )
        sent = 0
        for frame in recent { waiting.append(numbered(frame)) }
    }

    private func incoming(_ payload: String) -> TrafficEvent {
        TrafficEvent(kind: "gateway.frame/1", payload: payload, attributes: ["dir": "in"])
    }

    private func out(_ payload: String) -> TrafficEvent {
        TrafficEvent(kind: "gateway.frame/1", payload: payload, attributes: ["dir": "out"])
    }

    private mutating func dispatch(_ name: String, _ body: String) -> TrafficEvent {
        numbered(#""d":\#(body),"t":"\#(name)"}"#)
    }

    private mutating func numbered(_ frame: String) -> TrafficEvent {
        sent += 1
        return incoming(#"{"op":0,"s":\#(sent),"# + frame)
    }

    /// A dispatch that the server would send again.
    private mutating func kept(_ name: String, _ body: String) -> TrafficEvent {
        recent.append(#""d":\#(body),"t":"\#(name)"}"#)
        if recent.count > 10 { recent.removeFirst() }
        return dispatch(name, body)
    }

    // MARK: - Messages

    private static func id(ofChannel channel: Int) -> Int { 900_000_000_000_000_000 + channel }

    private static func id(ofPerson person: Int) -> Int { 800_000_000_000_000_000 + person << 22 }

    private mutating func create(
        _ number: Int,
        at time: Timestamp,
        using random: inout SeededGenerator
    ) -> TrafficEvent {
        let message = Message(
            id: 910_000_000_000_000_000 + number << 12,
            channel: min(random.below(Self.channels), random.below(Self.channels)),
            author: random.below(40)
        )
        var more = ""
        if random.below(10) == 0, let parent = messages.last(where: { $0.channel == message.channel }) {
            more += #","message_reference":{"message_id":"\#(parent.id)"}"#
        }
        if random.below(20) == 0 { more += #","nonce":"\#(random.hex(12))","flags":0"# }
        messages.append(message)
        if messages.count > Self.remembered { messages.removeFirst(100) }
        return kept("MESSAGE_CREATE", Self.object(message, random.text(), at: time, more))
    }

    private mutating func edit(at time: Timestamp, using random: inout SeededGenerator) -> TrafficEvent {
        guard let message = messages.randomElement(using: &random) else { return incoming(#"{"op":11}"#) }
        return kept("MESSAGE_UPDATE", Self.object(message, random.text(), at: time, #","edited_at":"\#(time)""#))
    }

    private mutating func delete(using random: inout SeededGenerator) -> TrafficEvent {
        guard !messages.isEmpty else { return incoming(#"{"op":11}"#) }
        let message = messages.remove(at: random.below(messages.count))
        return dispatch(
            "MESSAGE_DELETE",
            #"{"id":"\#(message.id)","channel_id":"\#(Self.id(ofChannel: message.channel))"}"#
        )
    }

    private static func object(_ message: Message, _ text: String, at time: Timestamp, _ more: String) -> String {
        #"{"id":"\#(message.id)","channel_id":"\#(id(ofChannel: message.channel))","#
            + #""author_id":"\#(id(ofPerson: message.author))","content":"\#(text)","#
            + #""created_at":"2026-03-01T11:00:00.\#(100_000 + message.id >> 12 % 900_000)Z"\#(more),"#
            + #""author_username":"person\#(message.author)","attachments":null}"#
    }

    // MARK: - Beside messages

    private mutating func react(using random: inout SeededGenerator) -> TrafficEvent {
        guard let message = messages.randomElement(using: &random) else { return incoming(#"{"op":11}"#) }
        return dispatch(
            "MESSAGE_REACTION_ADD",
            #"{"message_id":"\#(message.id)","channel_id":"\#(Self.id(ofChannel: message.channel))","#
                + #""guild_id":"\#(Self.guild)","user_id":"\#(Self.id(ofPerson: random.below(40)))","emoji":"🍰"}"#
        )
    }

    private mutating func type(at time: Timestamp, using random: inout SeededGenerator) -> TrafficEvent {
        dispatch(
            "TYPING_START",
            #"{"channel_id":"\#(Self.id(ofChannel: random.below(Self.channels)))","guild_id":"\#(Self.guild)","#
                + #""user_id":"\#(Self.id(ofPerson: random.below(40)))","timestamp":\#(time.microseconds / 1_000_000)}"#
        )
    }

    private mutating func joining(_ number: Int, using random: inout SeededGenerator) -> TrafficEvent {
        let person = 40 + random.below(200)
        return dispatch(
            "GUILD_MEMBER_ADD",
            #"{"guild_id":"\#(Self.guild)","user_id":"\#(Self.id(ofPerson: person))","username":"person\#(person)","#
                + #""roles":[],"badges":{"shown":[\#(number % 7)]}}"#
        )
    }
}
