import EventLog
import Testing

@testable import Projections

@Suite struct CommunityRegisterTests {
    private var scene = RecordedGateway()

    private mutating func role(
        _ id: String,
        in guild: String,
        outer: String? = nil,
        _ event: String = "GUILD_ROLE_CREATE"
    ) {
        let role = #"{"id":"\#(id)","guild_id":"\#(guild)","name":"Host","color":9,"permissions":"32775","position":2}"#
        scene.dispatch(event, #"{"guild_id":\#(outer ?? guild),"role":\#(role)}"#)
    }

    private mutating func member(
        _ user: String,
        in guild: String,
        roles: String,
        _ event: String = "GUILD_MEMBER_UPDATE"
    ) {
        scene.dispatch(event, #"{"guild_id":"\#(guild)","user_id":"\#(user)","nickname":"N.","roles":\#(roles)}"#)
    }

    private mutating func voice(_ user: String, in channel: String?) {
        let place = channel.map { "\"\($0)\"" } ?? "null"
        scene.dispatch("VOICE_STATE_UPDATE", #"{"guild_id":"1","channel_id":\#(place),"user_id":"\#(user)"}"#)
    }

    @Test mutating func readySetsMembershipAndClearsNothing() {
        scene.dispatch("GUILD_CREATE", #"{"id":"1","name":"Tea","owner_id":"9"}"#)
        member("5", in: "1", roles: "[]")
        scene.dispatch("READY", #"{"session_id":"a","user_id":"9","guilds":[2],"read_states":null}"#)
        #expect(
            scene.rows(.guilds) == [
                #"{"id":"1","joined":false,"name":"Tea","owner":"9"}"#, #"{"id":"2","joined":true}"#,
            ]
        )
        #expect(scene.rows(.members).count == 1)
    }

    @Test mutating func theRecordingUserJoinsAndLeavesByMemberEvents() {
        scene.dispatch("READY", #"{"user_id":"9","guilds":[]}"#)
        member("9", in: "1", roles: "null", "GUILD_MEMBER_ADD")
        #expect(scene.rows(.guilds) == [#"{"id":"1","joined":true}"#])
        scene.dispatch("GUILD_MEMBER_REMOVE", #"{"guild_id":1,"user_id":9}"#)
        #expect(scene.rows(.guilds) == [#"{"id":"1","joined":false}"#])
        #expect(scene.rows(.members).isEmpty)
        member("8", in: "1", roles: "null", "GUILD_MEMBER_ADD")
        #expect(scene.rows(.guilds) == [#"{"id":"1","joined":false}"#])
    }

    @Test mutating func aDeletedGuildTakesWhatIsInItAndNeverComesBack() throws {
        scene.dispatch("GUILD_CREATE", #"{"id":"1","name":"Tea","owner_id":"9"}"#)
        role("4", in: "1")
        member("5", in: "1", roles: "[4]")
        voice("5", in: "7")
        scene.dispatch("GUILD_BAN_ADD", #"{"guild_id":"1","user_id":"6"}"#)
        scene.dispatch("GUILD_DELETE", #"{"id":1}"#)
        member("5", in: "1", roles: "[]")
        scene.dispatch("GUILD_UPDATE", #"{"id":"1","name":"Tea","owner_id":"9"}"#)
        voice("5", in: "7")
        for section in [Section.guilds, .members, .roles, .bans, .voiceStates] {
            #expect(scene.rows(section).isEmpty, "\(section)")
        }
        #expect(scene.community.isDeleted(guild: try #require(scene.names.find("1"))))
        #expect(scene.issues.isEmpty)
    }

    @Test mutating func aDeletedRoleLeavesEveryMemberForEver() {
        role("4", in: "1")
        member("5", in: "1", roles: "[4,3]")
        scene.dispatch("GUILD_ROLE_DELETE", #"{"guild_id":1,"role_id":4}"#)
        #expect(scene.rows(.members) == [#"{"guild":"1","nickname":"N.","roles":["3"],"user":"5"}"#])
        member("5", in: "1", roles: "[4]")
        role("4", in: "1")
        #expect(scene.rows(.members) == [#"{"guild":"1","nickname":"N.","roles":[],"user":"5"}"#])
        #expect(scene.rows(.roles).isEmpty)
    }

    @Test mutating func aRoleBelongsToItsOwnGuild() {
        role("4", in: "2", outer: "1", "GUILD_ROLE_UPDATE")
        #expect(
            scene.rows(.roles) == [
                #"{"color":9,"guild":"2","id":"4","name":"Host","permissions":"32775","position":2}"#
            ]
        )
    }

    @Test mutating func voiceFollowsTheUserAndNullIsLeaving() {
        voice("5", in: "7")
        voice("5", in: "8")
        #expect(scene.rows(.voiceStates) == [#"{"channel":"8","guild":"1","user":"5"}"#])
        voice("5", in: nil)
        #expect(scene.rows(.voiceStates).isEmpty)
        #expect(scene.history(.voiceStates, "1", "5") == ["1 added", "2 changed", "3 removed"])
    }

    @Test(arguments: [(12, true), (13, false)])
    mutating func typingEndsEightSecondsAfterItsLastFrame(asOf: Int64, isThere: Bool) {
        for second in [0, 5] as [Int64] {
            scene.dispatch("TYPING_START", #"{"channel_id":"7","guild_id":"1","user_id":"5"}"#, seconds: second)
        }
        let rows = scene.rows(.typing, asOf: Timestamp(seconds: asOf))
        let row = #"{"channel":"7","until":"1970-01-01T00:00:13.000000Z","user":"5"}"#
        #expect(rows == (isThere ? [row] : []))
    }

    @Test mutating func nobodyTypesOrSpeaksInADeletedChannel() {
        scene.dispatch("TYPING_START", #"{"channel_id":"7","guild_id":"1","user_id":"5"}"#)
        voice("5", in: "7")
        scene.dispatch("CHANNEL_DELETE", #"{"guild_id":1,"id":7}"#)
        #expect(scene.rows(.typing).isEmpty)
        #expect(scene.rows(.voiceStates).isEmpty)
    }

    @Test mutating func readStatesAreThoseOfTheLastReady() {
        let states = #"[{"channel_id":"7","last_message_id":"70"},{"channel_id":"8","last_message_id":"80"}]"#
        scene.dispatch("READY", #"{"user_id":"9","guilds":[],"read_states":\#(states)}"#)
        let later = #"[{"channel_id":"8","last_message_id":"79"}]"#
        scene.dispatch("READY", #"{"user_id":"9","guilds":[],"read_states":\#(later)}"#)
        #expect(scene.rows(.readStates) == [#"{"channel":"8","lastMessage":"79"}"#])
        scene.dispatch("READY", #"{"user_id":"9","guilds":[],"read_states":null}"#)
        #expect(scene.rows(.readStates).isEmpty)
    }

    @Test mutating func whatIsGoneIsStillKnownByItsHistory() throws {
        member("5", in: "1", roles: "[]")
        member("5", in: "1", roles: "[]")
        scene.dispatch("GUILD_MEMBER_REMOVE", #"{"guild_id":1,"user_id":5}"#)
        #expect(scene.community.keys(in: .members, names: scene.names).isEmpty)
        #expect(scene.community.knownKeys(in: .members, names: scene.names).count == 1)
        #expect(scene.history(.members, "1", "5") == ["1 added", "3 removed"])
    }

    @Test mutating func theLastPresenceCounts() {
        for status in ["online", "dnd"] { scene.dispatch("PRESENCE_UPDATE", #"{"user_id":"5","status":"\#(status)"}"#) }
        #expect(scene.rows(.presences) == [#"{"status":"dnd","user":"5"}"#])
    }
}
