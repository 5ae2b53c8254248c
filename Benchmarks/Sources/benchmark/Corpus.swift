/// Generated gateway frames: 80 % create, 14 % update, 6 % delete, mean 377 B, 400 channels with skew, 5,000 authors,
/// one message in six a reply, escapes and non-ASCII in the texts. More than half of them have members that nobody knows today,
/// unless they are plain. The same for the same seed on every machine.
struct Corpus {
    /// All frames, one after another.
    private(set) var bytes: [UInt8] = []
    /// Where each frame begins, and the end of the last: one more than there are frames.
    private(set) var offsets: [UInt64] = [0]

    /// Whether no frame has members that nobody knows.
    private let isPlain: Bool
    private var random: SplitMix
    private var nextID: UInt64 = 153_833_649_995_911_168
    private var recent: [Message] = []
    private var frameNumber = 0

    private struct Message {
        let id: UInt64
        let channel: Int
        let author: Int
        let answered: UInt64?
    }

    var count: Int { offsets.count - 1 }

    init(seed: UInt64, isPlain: Bool = false) {
        self.isPlain = isPlain
        random = SplitMix(state: seed)
    }

    /// Forgets the frames made so far and makes the next ones.
    mutating func refill(count: Int) {
        bytes.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(count * 380)
        offsets.reserveCapacity(count + 1)
        offsets.append(0)
        for _ in 0..<count {
            addFrame()
            offsets.append(UInt64(bytes.count))
        }
    }

    func payload(_ index: Int) -> [UInt8] {
        Array(bytes[Int(offsets[index])..<Int(offsets[index + 1])])
    }

    private mutating func addFrame() {
        frameNumber += 1
        let kind = roll(100)
        if kind < 80 || recent.isEmpty {
            addCreate()
        } else if kind < 94 {
            addUpdate()
        } else {
            addDelete()
        }
    }

    private mutating func addCreate() {
        nextID += 4_194_304 + UInt64(roll(4)) << 12
        let channel = min(roll(400), roll(400))
        let answered = roll(6) == 0 ? recent.last { $0.channel == channel }?.id : nil
        let message = Message(id: nextID, channel: channel, author: roll(5000), answered: answered)
        if recent.count < 4096 { recent.append(message) } else { recent[roll(4096)] = message }
        addMessage(message, name: "MESSAGE_CREATE", edited: false)
    }

    private mutating func addUpdate() {
        addMessage(recent[roll(recent.count)], name: "MESSAGE_UPDATE", edited: true)
    }

    private mutating func addDelete() {
        let message = recent.remove(at: roll(recent.count))
        add("{\"op\":0,\"d\":{\"id\":\"\(message.id)\",\"channel_id\":\"\(Self.channelID(message.channel))\"")
        addUnknownMembers()
        add("},\"s\":\(frameNumber),\"t\":\"MESSAGE_DELETE\"}")
    }

    private mutating func addMessage(_ message: Message, name: String, edited: Bool) {
        add("{\"op\":0,\"d\":{\"id\":\"\(message.id)\",\"channel_id\":\"\(Self.channelID(message.channel))\",")
        add("\"author_id\":\"\(135_276_370_329_735_168 + UInt64(message.author) << 22)\",\"content\":\"")
        addText()
        add("\",\"created_at\":\"\(time(at: message.id))\",")
        if edited { add("\"edited_at\":\"\(time(at: message.id + UInt64(frameNumber) << 22))\",") }
        add("\"author_username\":\"user\(message.author)\",\"author_display_name\":\"User Nr. \(message.author)\",")
        if let answered = message.answered { add("\"message_reference\":{\"message_id\":\"\(answered)\"},") }
        add("\"attachments\":null")
        addUnknownMembers()
        add("},\"s\":\(frameNumber),\"t\":\"\(name)\"}")
    }

    private mutating func addUnknownMembers() {
        if !isPlain { add(UnknownMembers.text(frameNumber)) }
    }

    private mutating func addText() {
        for word in 0..<(6 + roll(20)) {
            if word > 0 { bytes.append(0x20) }
            add(Self.words[roll(Self.words.count)])
        }
    }

    private func time(at id: UInt64) -> String {
        let milliseconds = (id >> 22) % 86_400_000
        func padded(_ value: UInt64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        let clock = [milliseconds / 3_600_000, milliseconds / 60_000 % 60, milliseconds / 1000 % 60]
        return "2026-03-01T\(clock.map { padded($0, 2) }.joined(separator: ":")).\(padded(milliseconds % 1000, 3))Z"
    }

    private mutating func add(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func roll(_ bound: Int) -> Int { random.below(bound) }

    static func channelID(_ channel: Int) -> UInt64 {
        135_653_857_706_512_384 + UInt64(channel) << 22
    }

    private static let words = [
        "tea", "cake", "\\u0026", "the", "meeting", "moved", "to", "four", "\\\"quoted\\\"", "größer", "日本", "release",
        "again", "please", "look", "at", "line\\nbreak", "and", "tell", "me", "whether", "it", "works", "for", "you",
        "channel", "message", "sync", "🍰", "tomorrow", "yes", "no", "maybe", "because", "server", "client", "log",
    ]
}

/// Members that no decoder knows today, as a later version of a server may send them.
enum UnknownMembers {
    /// The members of a frame behind its others: eleven frames of twenty have some.
    static func text(_ number: Int) -> String {
        number * 7 % 20 < 11 ? ",\"nonce\":\"\(number * 7919)\",\"flags\":0" : ""
    }
}
