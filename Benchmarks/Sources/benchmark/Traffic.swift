import Foundation

/// A kind of traffic: how it is made, and how fast its replay should be.
enum Traffic: String, CaseIterable {
    case known = "chat, known members"
    case unknown = "chat, a member more"
    /// The same with a name that has an escape, which the gateway's decoder reads on its general way alone.
    case general = "chat, on the general way"
    case mixed = "chat, mixed"
    case oneAuthor = "chat, one author with many names"
    case reactions = "chat, reactions"
    case rows
    case notes = "rows of notes, each a new one"
    case conversations = "rows of conversations"
    case stillNotes = "rows of notes whose updated_at stays"
    case items
    case itemArrays = "item lists as one array"
    case status = "status files"

    /// The capture's kind.
    var kind: String {
        switch self {
        case .known, .unknown, .general, .mixed, .oneAuthor, .reactions: "gateway"
        case .rows, .notes, .conversations, .stillNotes: "realtime"
        case .items, .itemArrays: "sse"
        case .status: "status"
        }
    }

    /// One event for so many of those that were asked for.
    var share: Int {
        switch self {
        case .rows, .notes, .conversations, .stillNotes: 20
        case .items, .itemArrays: 300
        default: 5
        }
    }

    /// What a state of it holds ever more of, for measurements of memory.
    var held: FamilyLog.Held? {
        switch self {
        case .known, .unknown, .mixed: .messages
        case .notes: .rows
        default: nil
        }
    }

    /// How many times as fast as Python it should be.
    var goal: Double {
        switch self {
        case .known, .oneAuthor: 6
        case .status: 4
        default: 5
        }
    }

    /// What one message of a mixed chat says after a third of the events, and no other.
    static let mark = "only once did anybody say this"

    /// The id of a message of a chat; `number` counts created messages from 0.
    static func messageID(_ number: Int) -> Int { firstID + (number + 1) * idStep }

    fileprivate static let firstID = 153_833_649_995_911_168
    fileprivate static let idStep = 4_194_304

    /// When the event of a number happened, counted from 0.
    static func time(_ number: Int) -> String {
        let (minutes, seconds) = (number / 1200, number / 20 % 60)
        let parts = [minutes / 60 % 24, minutes % 60, seconds].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "2026-01-0\(1 + minutes / 1440 % 9)T\(parts.joined(separator: ":")).\(100 + number % 20 * 45)Z"
    }

    func write(_ count: Int, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        var source = TrafficSource(self, count: count)
        var text = ""
        for number in 0..<count {
            text += source.line(number) + "\n"
            guard text.utf8.count > 1 << 20 || number == count - 1 else { continue }
            try file.write(contentsOf: Data(text.utf8))
            text = ""
        }
        try file.close()
    }
}

/// Makes the lines of a capture; the same ones on every machine.
private struct TrafficSource {
    private let traffic: Traffic
    private var random = SplitMix(state: 17)
    private var recent: [(id: Int, channel: Int, author: Int)] = []
    private var nextID = Traffic.firstID
    private var tickets: [String]
    private var rows = RowTraffic()
    /// Whether each item of a list is done.
    private var toggled = [Bool](repeating: false, count: 135)
    /// The messages of each conversation.
    private var conversations: [Int: [String]] = [:]

    /// The number of the event from which on the next new message says `Traffic.mark`; `nil` behind it.
    private var markStart: Int?

    init(_ traffic: Traffic, count: Int) {
        self.traffic = traffic
        markStart = traffic == .mixed ? count / 3 : nil
        tickets = (0..<135).map { Self.ticket($0, title: "ticket \($0)", state: 0, modified: "2026-01-01T00:00:00Z") }
    }

    mutating func line(_ number: Int) -> String {
        switch traffic {
        case .rows: capture(rows.frame(number), number)
        case .notes: capture(note(number), number)
        case .conversations: capture(conversation(number), number)
        case .stillNotes: capture(stillNote(number), number)
        case .items: capture(snapshot(number), number)
        case .itemArrays: capture(arraySnapshot(number), number)
        case .status: status(number)
        default: capture(frame(number), number)
        }
    }

    private func capture(_ raw: String, _ number: Int) -> String {
        "{\"t_ms\":\(1_767_225_600_000 + number * 50),\"dir\":\"in\",\"raw\":\(Self.quoted(raw))}"
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }

    // MARK: - Chat

    private mutating func frame(_ number: Int) -> String {
        let kind = random.below(100)
        if recent.isEmpty || kind < 60 || (kind < 80 && traffic != .reactions) {
            nextID += Traffic.idStep
            let message = (nextID, min(random.below(400), random.below(400)), random.below(5000))
            if recent.count < 4096 { recent.append(message) } else { recent[random.below(4096)] = message }
            return written(message, number, name: "MESSAGE_CREATE", edited: "")
        }
        let place = random.below(recent.count)
        if kind < 80 {
            let (id, channel, _) = recent[place]
            let user = random.below(5000)
            return dispatch(
                "MESSAGE_REACTION_ADD",
                "\"message_id\":\"\(id)\",\"channel_id\":\"\(channel + 1)\",\"user_id\":\"\(user)\",\"emoji\":\"👍\"",
                number
            )
        }
        if kind < 94 {
            let edited = "\"edited_at\":\"\(Traffic.time(number))\","
            return written(recent[place], number, name: "MESSAGE_UPDATE", edited: edited)
        }
        let (id, channel, _) = recent.remove(at: place)
        return dispatch("MESSAGE_DELETE", "\"id\":\"\(id)\",\"channel_id\":\"\(channel + 1)\"", number)
    }

    private mutating func written(
        _ message: (id: Int, channel: Int, author: Int),
        _ number: Int,
        name: String,
        edited: String
    ) -> String {
        let isOne = traffic == .oneAuthor
        var content = random.words(6...25)
        if edited.isEmpty, let markStart, number >= markStart { (content, self.markStart) = (Traffic.mark, nil) }
        let author = isOne ? 7 : message.author
        let authorName = isOne ? "name \(1_000_000 + number)" : "user\(author)"
        return dispatch(
            name,
            "\"id\":\"\(message.id)\",\"channel_id\":\"\(message.channel + 1)\",\"author_id\":\"\(author)\","
                + "\"content\":\"\(content)\",\"created_at\":\"2026-01-01T00:00:00.5Z\",\(edited)"
                + "\"author_username\":\"\(authorName)\",\"attachments\":null\(memberMore)",
            number
        )
    }

    private func dispatch(_ name: String, _ data: String, _ number: Int) -> String {
        "{\"op\":0,\"d\":{\(data)\(unknownMembers(number))},\"s\":\(number + 1),\"t\":\"\(name)\"}"
    }

    /// Nothing in the kinds of traffic that are alike throughout.
    private func unknownMembers(_ number: Int) -> String {
        [.known, .unknown, .general].contains(traffic) ? "" : UnknownMembers.text(number)
    }

    private var memberMore: String {
        switch traffic {
        case .unknown: ",\"nonce\":\"abc\""
        case .general: ",\"n\\u006fnce\":\"abc\""
        default: ""
        }
    }

    // MARK: - Rows, items and files

    private mutating func conversation(_ number: Int) -> String {
        let (id, time) = (random.below(1000), Traffic.time(number))
        var messages = conversations[id] ?? (0..<3).map { message($0, number) }
        let place = random.below(messages.count)
        messages[place] = message(place, number)
        conversations[id] = messages
        let record =
            "{\"id\":\"c\(id)\",\"user_id\":\"u1\",\"title\":\"\(random.words(2...5))\",\"messages\":[\(messages.joined(separator: ","))],"
            + "\"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"\(time)\",\"deleted_at\":null\(unknownMembers(number))}"
        return change(
            of: "conversations",
            "UPDATE",
            at: time,
            columns: ["id", "user_id", "title", "messages", "created_at", "updated_at", "deleted_at"],
            "\"record\":\(record),\"old_record\":{\"id\":\"c\(id)\"}"
        )
    }

    private mutating func note(_ number: Int) -> String {
        let time = Traffic.time(number)
        let record =
            "{\"id\":\"n\(number)\",\"user_id\":\"u1\",\"title\":\"\(random.words(2...5))\",\"content\":\"\(random.words(6...25))\","
            + "\"created_at\":\"\(time)\",\"updated_at\":\"\(time)\",\"deleted_at\":null\(unknownMembers(number))}"
        return change(
            of: "notes",
            "INSERT",
            at: time,
            columns: ["id", "user_id", "title", "content", "created_at", "updated_at", "deleted_at"],
            "\"record\":\(record)"
        )
    }

    /// A change of one of a thousand notes, all of one time, so that the order of arrival decides.
    private mutating func stillNote(_ number: Int) -> String {
        let id = number < 1000 ? number : random.below(1000)
        let record =
            "{\"id\":\"n\(id)\",\"user_id\":\"u1\",\"title\":\"\(random.words(2...5))\",\"content\":\"\(random.words(6...25))\","
            + "\"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-01T00:00:00Z\",\"deleted_at\":null"
            + "\(UnknownMembers.text(number))}"
        return change(
            of: "notes",
            number < 1000 ? "INSERT" : "UPDATE",
            at: Traffic.time(number),
            columns: ["id", "user_id", "title", "content", "created_at", "updated_at", "deleted_at"],
            "\"record\":\(record)" + (number < 1000 ? "" : ",\"old_record\":{\"id\":\"n\(id)\"}")
        )
    }

    private func change(of table: String, _ type: String, at time: String, columns: [String], _ rest: String) -> String
    {
        RowTraffic.frame(of: table, type, at: time, columns: columns.map { ($0, "text") }, rest)
    }

    private mutating func message(_ place: Int, _ number: Int) -> String {
        "{\"id\":\"m\(place)\",\"role\":\"user\",\"content\":\"\(random.words(3...10))\",\"status\":\"complete\","
            + "\"timestamp\":\"\(Traffic.time(number))\"}"
    }

    private mutating func snapshot(_ number: Int) -> String {
        let place = random.below(tickets.count)
        let title = random.below(10) == 0 ? random.words(2...6) : "ticket \(place)"
        tickets[place] = Self.ticket(place, title: title, state: random.below(3), modified: Traffic.time(number))
        return "id: \(number)\n" + tickets.map { "data: \($0)\n" }.joined() + "\n"
    }

    /// The whole list in one line of some 12 KB, in which one item is toggled.
    private mutating func arraySnapshot(_ number: Int) -> String {
        let place = random.below(toggled.count)
        toggled[place].toggle()
        let items = toggled.enumerated().map { place, done in
            "{\"id\":\"wrk-\(place)\",\"text\":\"item number \(place)\",\"done\":\(done),\"created\":\"2026-01-01T00:00:00Z\"}"
        }
        return "id: \(number)\ndata: [\(items.joined(separator: ","))]\n\n"
    }

    private static func ticket(_ number: Int, title: String, state: Int, modified: String) -> String {
        let status = ["open", "in_progress", "closed"][state]
        return
            "{\"ticket\":{\"id\":\"wrk-\(number)\",\"title\":\"\(title)\",\"status\":\"\(status)\",\"type\":\"task\","
            + "\"priority\":1,\"deps\":[],\"created\":\"2026-01-01T00:00:00Z\",\"modified\":\"\(modified)\""
            + "\(UnknownMembers.text(number))},\"type\":\"ticket\"}"
    }

    private mutating func status(_ number: Int) -> String {
        let session = random.below(50)
        let state = ["idle", "working", "needs_input"][random.below(3)]
        let text =
            "{\"state\":\"\(state)\",\"project\":\"p\(session)\",\"timestamp\":\"\(Traffic.time(number).prefix(19))Z\",\"pid\":\(session + 1)"
            + "\(UnknownMembers.text(number))}\n"
        return
            "{\"t_ms\":\(1_767_225_600_000 + number * 50),\"path\":\"/tmp/vibestatus-\(session).json\",\"op\":\"write\","
            + "\"raw\":\(Self.quoted(text))}"
    }
}
