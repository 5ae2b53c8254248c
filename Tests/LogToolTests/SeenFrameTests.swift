import Clients
import EventLog
import TestSupport
import Testing

@testable import Projections

/// Frames that a client reads on the short way give the state that the long way gives (I18).
@Suite struct SeenFrameTests {
    private static let readings: [(name: String, rules: ReadingRules)] =
        ["retrocast-web", "retrocast-ios", "retrocast-web@open", "retrocast-ios@open"].compactMap { name in
            Profile(rawValue: name).map { (name, $0.rules) }
        } + [
            ("few rules", [.messagesStandAsTheyArrive, .laterVersionCounts, .deletedMessageComesBack]),
            (
                "listed once",
                [
                    .messagesStandAsTheyArrive, .laterVersionCounts, .deletedMessageComesBack,
                    .unseenMessageIsNotUpdated,
                    .messageEndsTyping,
                ]
            ),
            ("other rules", [.createAlwaysAdds, .laterVersionCounts]),
        ]

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func bothWaysGiveOneState(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let log = try TemporaryLog(try (1...300).map { try Self.draft($0, &random) })
        for (name, rules) in Self.readings {
            var options = ReplayOptions()
            options.rules = rules
            try log.store.read { session in
                var short = try LogState(before: session, rules: rules)
                var long = short
                try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                    let envelope = event.envelope
                    event.withPayload {
                        short.apply(envelope, payload: $0)
                        long.applyLong(envelope, payload: $0)
                    }
                    #expect(short.digest() == long.digest(), "seed \(seed), \(name), event \(event.sequence)")
                    return short.digest() == long.digest()
                }
                #expect(short.document() == long.document(), "seed \(seed), \(name)")
                #expect(Self.histories(short) == Self.histories(long), "seed \(seed), \(name)")
                #expect(short.sources.map(\.remoteClock) == long.sources.map(\.remoteClock), "seed \(seed), \(name)")
                var whole = try Replay.logState(of: session, options: options)
                #expect(whole.document() == long.document(), "seed \(seed), \(name)")
            }
        }
    }

    private static func histories(_ state: LogState) -> [String] {
        var all: [String] = []
        state.forEachHistory { all.append("\($0) \($1)") }
        return all
    }

    /// Frames about a few messages: created often, updated, deleted, answered, typed; repeated frames; channels that go; plain
    /// frames and others.
    private static func draft(_ number: Int, _ random: inout SeededGenerator) throws -> DraftEvent {
        let id = Int.random(in: 1...30, using: &random)
        let channel = 10 + id % 3
        let guild = Int.random(in: 0...2, using: &random) == 0 ? #","guild_id":"5""# : ""
        let counter = Int.random(in: 0...9, using: &random) == 0 ? max(1, number - 1) : number
        var (name, data) = ("", "")
        switch Int.random(in: 0...24, using: &random) {
        case 0: (name, data) = ("CHANNEL_DELETE", #"{"id":"\#(channel)","name":"c"\#(guild)}"#)
        case 1: (name, data) = ("CHANNEL_CREATE", #"{"id":"\#(channel)","name":"c","type":0\#(guild)}"#)
        case 2: (name, data) = ("TYPING_START", #"{"channel_id":"\#(channel)","user_id":"7"}"#)
        case 3...6: (name, data) = ("MESSAGE_DELETE", #"{"id":"\#(id)","channel_id":"\#(channel)"\#(guild)}"#)
        case 7:
            let reaction = #"{"message_id":"\#(id)","channel_id":"\#(channel)","user_id":"7","emoji":"👍"}"#
            (name, data) = ("MESSAGE_REACTION_ADD", reaction)
        case let kind:
            let isUpdate = kind < 14
            let second = Int.random(in: 10...13, using: &random)
            let edited = isUpdate ? #","edited_at":"2026-01-02T00:00:\#(second).5Z""# : ""
            let answered =
                Int.random(in: 0...3, using: &random) == 0 ? #","message_reference":{"message_id":"\#(id / 2)"}"# : ""
            let others = ["", #","nonce":"\u00e9 \#(second)""#, #","attachments":["a","b"]"#, #","flags":null"#]
            let named = [
                "", #","author_username":"u \n \#(second)""#, #","author_display_name":"D","author_username":null"#,
            ]
            // A time of another form is not plain.
            let time = kind == 20 ? "2026-01-01T01:00:00+01:00" : "2026-01-01T00:00:00.25Z"
            name = isUpdate ? "MESSAGE_UPDATE" : "MESSAGE_CREATE"
            data =
                #"{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","content":"text \"\#(second % 2)\"","#
                + #""created_at":"\#(time)""# + edited + answered + guild + (others.randomElement(using: &random) ?? "")
                + (named.randomElement(using: &random) ?? "") + "}"
        }
        return DraftEvent(
            recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
            source: try SourceName("guild"),
            kind: try EventKind("gateway.frame/1"),
            attributes: ["dir": "in", "connection": number < 150 ? "c" : "d"],
            payload: Array(#"{"op":0,"s":\#(counter),"t":"\#(name)","d":\#(data)}"#.utf8)
        )
    }
}
