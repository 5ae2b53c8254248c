import TestSupport

/// Random frames about a few guilds, channels, users and roles; repeats, swaps, new connections and faults among them.
struct GatewayTraffic {
    /// One frame and the connection that it comes over; a link without a text.
    struct Frame {
        var text: String?
        var connection: String?

        func play(in scene: inout RecordedGateway) {
            if let text { scene.receive(text, connection: connection) } else { scene.link("open") }
        }
    }

    private var random: SeededGenerator
    private var s = 0
    private var past: [Frame] = []
    private let connection: String?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        connection = seed % 3 == 0 ? "c" : nil
    }

    mutating func frames(_ count: Int) -> [Frame] {
        (0..<count).map { _ in frame() }
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func frame() -> Frame {
        switch pick(0...30) {
        case 0: return Frame(text: nil)
        case 1:
            s = 0
            return Frame(text: #"{"op":10,"d":{"heartbeat_interval":41250}}"#, connection: connection)
        case 2: return Frame(text: "{\"op\":0,\"t\":", connection: connection)
        case 3...7: if let old = past.suffix(40).randomElement(using: &random) { return old }
        default: break
        }
        s += 1
        let (name, data) = dispatch()
        let frame = Frame(text: RecordedGateway.frame(name, data, s: s), connection: connection)
        past.append(frame)
        return frame
    }

    /// An id as a text or as a number.
    private mutating func id(_ range: ClosedRange<Int>) -> String {
        let number = pick(range)
        return Bool.random(using: &random) ? String(number) : "\"\(number)\""
    }

    private mutating func dispatch() -> (String, String) {
        let guild = id(1...3)
        let channel = id(11...15)
        let user = id(21...24)
        let role = id(31...33)
        switch pick(0...39) {
        case 0, 1: return ("READY", ready())
        case 2, 3: return ("GUILD_CREATE", #"{"id":\#(guild),"name":"g\#(pick(0...2))","owner_id":\#(user)}"#)
        case 4: return ("GUILD_UPDATE", #"{"id":\#(guild),"name":"u\#(pick(0...2))","owner_id":\#(user)}"#)
        case 5: return pick(0...3) == 0 ? ("GUILD_DELETE", #"{"id":\#(guild)}"#) : ("GUILD_DELETE", "{}")
        case 6...8: return ("CHANNEL_CREATE", self.channel(channel, guild))
        case 9: return pick(0...3) == 0 ? ("CHANNEL_DELETE", #"{"guild_id":\#(guild),"id":\#(channel)}"#) : ("X", "{}")
        case 10...13:
            let roles = pick(0...3) == 0 ? "null" : "[\(role),\(id(31...33))]"
            let name = Bool.random(using: &random) ? "GUILD_MEMBER_ADD" : "GUILD_MEMBER_UPDATE"
            return (name, #"{"guild_id":\#(guild),"user_id":\#(user),"roles":\#(roles)}"#)
        case 14, 15: return ("GUILD_MEMBER_REMOVE", #"{"guild_id":\#(guild),"user_id":\#(user)}"#)
        case 16...18:
            let inner =
                #"{"id":\#(role),"guild_id":\#(id(1...3)),"name":"r","color":\#(pick(0...2)),"permissions":"1","position":1}"#
            return ("GUILD_ROLE_UPDATE", #"{"guild_id":\#(guild),"role":\#(inner)}"#)
        case 19: return ("GUILD_ROLE_DELETE", #"{"guild_id":\#(guild),"role_id":\#(role)}"#)
        case 20: return ("GUILD_BAN_ADD", #"{"guild_id":\#(guild),"user_id":\#(user)}"#)
        case 21: return ("GUILD_BAN_REMOVE", #"{"guild_id":\#(guild),"user_id":\#(user)}"#)
        case 22...24:
            return (
                "TYPING_START", #"{"channel_id":\#(channel),"guild_id":\#(guild),"user_id":\#(user),"timestamp":1}"#
            )
        case 25, 26: return ("PRESENCE_UPDATE", #"{"user_id":\#(user),"status":"s\#(pick(0...3))"}"#)
        case 27...29:
            let place = pick(0...2) == 0 ? "null" : channel
            return ("VOICE_STATE_UPDATE", #"{"guild_id":\#(guild),"channel_id":\#(place),"user_id":\#(user)}"#)
        case 30...35: return message(channel, user)
        case 36: return ("MESSAGE_DELETE", #"{"id":\#(id(41...60)),"channel_id":\#(channel)}"#)
        default:
            let name = Bool.random(using: &random) ? "MESSAGE_REACTION_ADD" : "MESSAGE_REACTION_REMOVE"
            return (name, #"{"message_id":\#(id(41...60)),"channel_id":\#(channel),"user_id":\#(user),"emoji":"A"}"#)
        }
    }

    private mutating func ready() -> String {
        let states = (11...15).filter { _ in Bool.random(using: &random) }
            .map { #"{"channel_id":"\#($0)","last_message_id":"\#(pick(41...60))"}"# }
        let guilds = (1...3).filter { _ in Bool.random(using: &random) }.map(String.init)
        let list = states.isEmpty ? "null" : "[\(states.joined(separator: ","))]"
        return #"{"user_id":"\#(pick(21...22))","guilds":[\#(guilds.joined(separator: ","))],"read_states":\#(list)}"#
    }

    private mutating func channel(_ id: String, _ guild: String) -> String {
        if pick(0...4) == 0 {
            return #"{"id":\#(id),"type":\#(pick(0...1) == 0 ? 1 : 3),"recipients":[{"id":"21"},{"id":"22"}]}"#
        }
        return
            #"{"id":\#(id),"guild_id":\#(guild),"name":"c","type":0,"position":\#(pick(0...3)),"parent_id":\#(self.id(11...15))}"#
    }

    private mutating func message(_ channel: String, _ user: String) -> (String, String) {
        let edited = pick(0...2)
        let time = edited == 0 ? "" : #","edited_at":"2026-03-01T12:00:0\#(edited)Z""#
        let data =
            #"{"id":\#(id(41...60)),"channel_id":\#(channel),"author_id":\#(user),"content":"t\#(edited)","created_at":"2026-03-01T11:00:00Z"\#(time),"attachments":null}"#
        return (edited == 0 ? "MESSAGE_CREATE" : "MESSAGE_UPDATE", data)
    }
}
