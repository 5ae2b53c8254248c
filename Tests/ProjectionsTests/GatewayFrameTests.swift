import EventLog
import Testing

@testable import Projections

@Suite struct GatewayFrameTests {
    private var scene = RecordedGateway()

    private static let message =
        #"{"id":"153833649995911168","channel_id":"7","author_id":"5","content":"tea","created_at":"2026-03-01T12:00:00.25Z","author_username":"nell","author_display_name":"Nell","attachments":null}"#

    @Test(arguments: GatewayShapes.frames)
    mutating func everyShapeIsUnderstood(sample: String) {
        scene.receive(sample)
        #expect(scene.issues.isEmpty)
    }

    @Test func theSamplesHaveEveryName() {
        let names = Set(GatewayShapes.frames.compactMap { try? JSONValue.parse($0)["t"]?.string })
        #expect(names == Set(GatewayEventName.allCases.map(\.rawValue)))
        #expect(GatewayEventName.allCases.count == 23)
        #expect(GatewayShapes.frames.count == 27)
    }

    @Test mutating func aMessageHasTheDocumentedMembers() {
        scene.dispatch("MESSAGE_CREATE", Self.message)
        #expect(
            scene.rows(.messages) == [
                #"{"author":"5","authorName":"Nell","channel":"7","content":"tea","createdAt":"2026-03-01T12:00:00.250000Z","id":"153833649995911168","revisions":1}"#
            ]
        )
    }

    @Test(arguments: ["153833649995911169", "9223372036854775807", "18446744073709551615", "9007199254740993"])
    mutating func idsAreTheSameAsTextsAndAsNumbers(id: String) {
        scene.dispatch("CHANNEL_CREATE", #"{"id":"\#(id)","guild_id":"1","name":"k","type":0,"position":2}"#)
        #expect(scene.column("id", of: .channels) == [id])
        scene.dispatch("CHANNEL_DELETE", #"{"guild_id":1,"id":\#(id)}"#)
        #expect(scene.rows(.channels).isEmpty)
        #expect(scene.issues.isEmpty)
    }

    /// During an outage a guild is out of reach, and nothing of it is deleted.
    @Test mutating func anOutageOfAGuildDeletesNothing() {
        scene.dispatch("GUILD_CREATE", #"{"id":"1","name":"g","owner_id":"3"}"#)
        scene.dispatch("CHANNEL_CREATE", #"{"id":"7","guild_id":"1","name":"k","type":0,"position":2}"#)
        scene.dispatch("MESSAGE_CREATE", Self.message)
        scene.dispatch("GUILD_DELETE", #"{"id":"1","unavailable":true}"#)
        #expect(scene.column("id", of: .guilds) == ["1"])
        #expect(scene.column("id", of: .messages) == ["153833649995911168"])
        scene.dispatch("GUILD_CREATE", #"{"id":"2","unavailable":true}"#)
        #expect(scene.column("id", of: .guilds) == ["1", "2"])
        #expect(scene.issues.isEmpty)
        scene.dispatch("GUILD_DELETE", #"{"id":"1","unavailable":false}"#)
        #expect(scene.column("id", of: .guilds) == ["2"])
        #expect(scene.rows(.messages).isEmpty && scene.rows(.channels).isEmpty)
    }

    /// Two texts with half a surrogate pair would be read as one id.
    @Test mutating func aTextWithHalfASurrogatePairIsNoID() {
        scene.dispatch("CHANNEL_CREATE", #"{"id":"\ud800","guild_id":"1","name":"k","type":0,"position":2}"#)
        #expect(scene.rows(.channels).isEmpty)
        #expect(scene.issues == [#"CHANNEL_CREATE: "d.id" is no id"#])
    }

    @Test mutating func aRepeatOnTheSameConnectionIsIgnored() {
        let online = RecordedGateway.frame("PRESENCE_UPDATE", #"{"user_id":"5","status":"online"}"#, s: 3)
        scene.receive(online)
        scene.receive(RecordedGateway.frame("PRESENCE_UPDATE", #"{"user_id":"5","status":"dnd"}"#, s: 4))
        scene.receive(online)
        #expect(scene.column("status", of: .presences) == ["dnd"])
    }

    @Test(arguments: ["hello", "link"])
    mutating func theSameFrameCountsOnANewConnection(start: String) {
        let online = RecordedGateway.frame("PRESENCE_UPDATE", #"{"user_id":"5","status":"online"}"#, s: 3)
        scene.receive(online)
        scene.receive(RecordedGateway.frame("PRESENCE_UPDATE", #"{"user_id":"5","status":"dnd"}"#, s: 4))
        if start == "hello" {
            scene.receive(#"{"op":10,"d":{"heartbeat_interval":41250}}"#)
        } else {
            scene.link("open")
        }
        scene.receive(online)
        #expect(scene.column("status", of: .presences) == ["online"])
    }

    @Test mutating func connectionsAreToldApartByTheirNames() {
        let online = RecordedGateway.frame("PRESENCE_UPDATE", #"{"user_id":"5","status":"online"}"#, s: 3)
        scene.receive(online, connection: "1")
        scene.receive(
            RecordedGateway.frame("PRESENCE_UPDATE", #"{"user_id":"5","status":"dnd"}"#, s: 4),
            connection: "1"
        )
        scene.receive(#"{"op":10,"d":{"heartbeat_interval":41250}}"#, connection: "2")
        scene.receive(online, connection: "1")
        #expect(scene.column("status", of: .presences) == ["dnd"])
        scene.receive(online, connection: "2")
        #expect(scene.column("status", of: .presences) == ["online"])
    }

    @Test mutating func theSameNumberWithOtherBytesIsNoRepeat() {
        for status in ["online", "dnd"] {
            scene.receive(RecordedGateway.frame("PRESENCE_UPDATE", #"{"user_id":"5","status":"\#(status)"}"#, s: 3))
        }
        #expect(scene.column("status", of: .presences) == ["dnd"])
    }

    @Test(arguments: [
        #"{"op":1}"#, #"{"op":7}"#, #"{"op":9,"d":false}"#, #"{"op":10,"d":{"heartbeat_interval":1}}"#, #"{"op":11}"#,
    ])
    mutating func controlFramesChangeNothing(frame: String) {
        scene.receive(frame)
        #expect(scene.allRows.isEmpty)
        #expect(scene.issues.isEmpty)
    }

    @Test mutating func whatTheRecorderSentChangesNothing() {
        scene.receive(RecordedGateway.frame("MESSAGE_CREATE", Self.message, s: 1), dir: "out")
        scene.receive("not json", dir: "out")
        #expect(scene.allRows.isEmpty)
        #expect(scene.issues.isEmpty)
    }

    @Test mutating func aLinkOfASourceThatIsNoGatewayIsHarmless() {
        for state in ["open", "close"] { scene.link(state) }
        #expect(scene.allRows.isEmpty)
        #expect(scene.issues.isEmpty)
    }

    @Test(arguments: [
        (#"{"op":0,"#, "frame: not JSON at byte 8: a member's name is missing"),
        ("[]", "frame: it is no object"),
        (#"{"t":"READY"}"#, #"frame: "op" is missing"#),
        (#"{"op":99}"#, "frame: op 99 is none that a server sends"),
        (#"{"op":0,"s":1,"t":"NO_SUCH_EVENT","d":{}}"#, "frame: event NO_SUCH_EVENT is not known"),
        (#"{"op":0,"s":1,"t":"a secret","d":{}}"#, #"frame: "t" is no event's name"#),
        (#"{"op":0,"s":1,"d":{}}"#, #"frame: "t" is missing"#),
        (#"{"op":0,"s":1,"t":"MESSAGE_CREATE","d":{}}"#, #"MESSAGE_CREATE: "d.channel_id" is missing"#),
        (#"{"op":0,"s":1,"t":"MESSAGE_DELETE","d":{"channel_id":"7"}}"#, #"MESSAGE_DELETE: "d.id" is missing"#),
        (#"{"op":0,"s":1,"t":"MESSAGE_DELETE","d":{"channel_id":"7","id":1.5}}"#, #"MESSAGE_DELETE: "d.id" is no id"#),
        (#"{"op":0,"s":1,"t":"MESSAGE_DELETE","d":null}"#, #"MESSAGE_DELETE: "d" is null"#),
        (#"{"op":0,"s":1,"t":"READY","d":{"user_id":"9"}}"#, #"READY: "d.guilds" is missing"#),
        (
            #"{"op":0,"s":1,"t":"GUILD_ROLE_CREATE","d":{"guild_id":1,"role":{"guild_id":"1"}}}"#,
            #"GUILD_ROLE_CREATE: "d.role.id" is missing"#
        ),
    ])
    mutating func aFaultIsAnIssueAndChangesNothing(frame: String, reason: String) {
        scene.receive(frame)
        #expect(scene.issues == [reason])
        #expect(scene.allRows.isEmpty)
    }

    @Test mutating func aMemberThatVanishedIsNoFault() {
        scene.dispatch("GUILD_MEMBER_UPDATE", "null")
        #expect(scene.issues.isEmpty)
        #expect(scene.allRows.isEmpty)
    }

    @Test mutating func directMessageChannelsHaveRecipients() {
        scene.dispatch("CHANNEL_CREATE", #"{"id":"3","type":1,"recipients":[{"id":"9"},{"id":"5"}]}"#)
        scene.dispatch("CHANNEL_CREATE", #"{"id":"4","type":3,"owner_id":"9","recipients":[{"id":"9"}]}"#)
        #expect(
            scene.rows(.channels) == [
                #"{"id":"3","kind":"dm","recipients":["9","5"]}"#, #"{"id":"4","kind":"group","recipients":["9"]}"#,
            ]
        )
    }

    /// Retrocast has no replies, and writes no objects of authors.
    @Test mutating func membersOfAnotherServerAreUnknownOnes() {
        let others = #""message_reference":{"message_id":"8"},"timestamp":"2026-03-02T12:00:00Z""#
        scene.dispatch(
            "MESSAGE_CREATE",
            #"{"id":"9","channel_id":"7","author_id":"5","content":"re","created_at":"2026-03-01T12:00:00Z",\#(others)}"#
        )
        scene.dispatch(
            "MESSAGE_CREATE",
            #"{"id":"10","channel_id":"7","author":{"id":"5"},"content":"re","created_at":"2026-03-01T12:00:00Z"}"#
        )
        #expect(scene.issues.count == 1)
        #expect(scene.issues.first?.contains("author_id") ?? false)
        let row = scene.rows(.messages).first ?? ""
        #expect(row.contains(#""createdAt":"2026-03-01T12:00:00.000000Z""#))
        #expect(row.contains(#""extra":{\#(others)}"#))
        #expect(!row.contains("replyTo"))
    }

    @Test mutating func noReactionMakesAMessageAndNoVoiceStateAMember() {
        scene.dispatch(
            "MESSAGE_REACTION_ADD",
            #"{"message_id":"9","channel_id":"7","guild_id":"1","user_id":"5","emoji":"A"}"#
        )
        scene.dispatch("VOICE_STATE_UPDATE", #"{"guild_id":"1","channel_id":"8","user_id":"5"}"#)
        #expect(scene.rows(.messages).isEmpty)
        #expect(scene.rows(.members).isEmpty)
        #expect(scene.rows(.guilds) == [#"{"id":"1","joined":false}"#])
        #expect(scene.column("id", of: .channels) == ["7", "8"])
    }

    @Test func noBytesAtAllCrashTheDecoder() {
        let frames = GatewayShapes.frames.map { Array($0.utf8) }
        for frame in frames {
            for length in stride(from: 0, to: frame.count, by: 3) {
                var scene = RecordedGateway()
                scene.receive(String(decoding: frame.prefix(length), as: UTF8.self))
                #expect(scene.issues.count == 1)
            }
        }
    }
}
