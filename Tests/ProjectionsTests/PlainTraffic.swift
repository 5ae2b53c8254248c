import TestSupport

/// Random frames about a few messages in a few channels, most of them plain: edits that come late, repeats, replies in
/// circles, deletions before anything else, channels and guilds that go.
struct PlainTraffic {
    private var random: SeededGenerator
    private var s = 0
    private var past: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func connection() -> String? {
        pick(0...20) == 0 ? "other" : nil
    }

    mutating func frame() -> String {
        if pick(0...12) == 0, let old = past.suffix(30).randomElement(using: &random) { return old }
        s += pick(0...30) == 0 ? -3 : 1
        let (name, data) = dispatch()
        let frame =
            pick(0...1) == 0
            ? RecordedGateway.frame(name, data, s: s) : #"{"t":"\#(name)","s":\#(s),"op":0,"d":\#(data)}"#
        past.append(frame)
        return frame
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func oneOf(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

    private mutating func id(_ range: ClosedRange<Int>) -> String {
        let number = pick(range)
        return pick(0...2) == 0 ? String(number) : "\"\(number)\""
    }

    private mutating func dispatch() -> (String, String) {
        let channel = id(11...14)
        let guild = pick(0...3) == 0 ? #""guild_id":\#(id(1...2)),"# : ""
        switch pick(0...60) {
        case 0: return ("CHANNEL_DELETE", #"{"id":\#(channel)}"#)
        case 1: return ("GUILD_DELETE", #"{"id":\#(id(1...3))}"#)
        case 2:
            return ("CHANNEL_CREATE", #"{"id":\#(channel),"guild_id":\#(id(1...3)),"name":"c","type":0,"position":1}"#)
        case 3...5:
            let emoji = oneOf(["A", #"\u0041"#, "👍"])
            return (
                oneOf(["MESSAGE_REACTION_ADD", "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE"]),
                #"{"message_id":\#(id(40...70)),"channel_id":\#(channel),"user_id":\#(id(1...4)),"emoji":"\#(emoji)"}"#
            )
        case 6...12: return ("MESSAGE_DELETE", #"{\#(guild)"id":\#(id(40...70)),"channel_id":\#(channel)}"#)
        default: return (oneOf(["MESSAGE_CREATE", "MESSAGE_UPDATE"]), message(channel, guild))
        }
    }

    private mutating func message(_ channel: String, _ guild: String) -> String {
        let content = oneOf(["a", "b", "", #"\u0061"#, #"line\nbreak \ud83c\udf70"#, "größer 🍰", #"\ud800"#])
        var rest = ""
        if pick(0...1) == 0 {
            rest += #","edited_at":"2026-03-01T12:00:0\#(pick(0...3))\#(oneOf(["Z", ".5Z", "+00:00"]))""#
        }
        if pick(0...2) == 0 { rest += #","message_reference":{"message_id":\#(id(40...70))}"# }
        if pick(0...2) == 0 { rest += #","author_username":"\#(oneOf(["nell", "ola", "n\\u0065ll"]))""# }
        if pick(0...3) == 0 { rest += #","author_display_name":\#(oneOf(["null", "\"Nell\""]))"# }
        if pick(0...3) == 0 {
            rest += #","attachments":\#(oneOf(["null", "[]", "[ ]", "[\"x\"]", "[{\"id\": 1.0}]", "{}"]))"#
        }
        if pick(0...3) == 0 { rest += #","pinned":\#(oneOf(["null", "true", "false"]))"# }
        if pick(0...3) == 0 { rest += #" , "nonce":\#(oneOf(["\"a\"", "\"b\"", "\"\\u0061\"", "1", "1.0", "1e0"]))"# }
        if pick(0...8) == 0 {
            rest += #","poll":\#(oneOf(["{\"b\":[1,{}],\"a\":null}", "[[]]", "{\"a\":1,\"a\":2}"]))"#
        }
        if pick(0...9) == 0 { rest += #","nonce":\#(oneOf(["null", "2"]))"# }
        if pick(0...20) == 0 { rest += #","\#(oneOf(["author", "timestamp", "n\\u006fnce", "größe"]))":null"# }
        let first = pick(0...4) == 0 ? #""type":\#(pick(0...1)),"# : ""
        return
            #"{\#(first)\#(guild)"id":\#(id(40...70)),"channel_id":\#(channel),"author_id":\#(id(21...24)),"content":"\#(content)",\#(oneOf(["", #""flags":0,"#]))"created_at":"2026-03-01T11:00:0\#(pick(0...1))Z"\#(rest)}"#
    }

    /// A frame with some bytes changed, left out, put in or swapped.
    static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(Array(#"019e-."\{}[]:, u"#.utf8).randomElement(using: &random) ?? 0, at: index)
            case 3: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &random))
            default: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...9, using: &random)))
            }
        }
        return bytes
    }
}
