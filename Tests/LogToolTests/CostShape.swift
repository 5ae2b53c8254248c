import EventLog
import TestSupport
import Testing

/// A shape of traffic: n events of one kind of change, in the order or form that costs most.
struct CostShape: Sendable, CustomTestStringConvertible {
    let name: String
    /// Questions whose answer itself grows faster, and why that must be.
    var excepted: Set<String> = []
    private let make: @Sendable (inout CostTraffic, Int) -> Void

    var testDescription: String { name }

    private init(
        _ name: String,
        excepted: Set<String> = [],
        _ make: @escaping @Sendable (inout CostTraffic, Int) -> Void
    ) {
        (self.name, self.excepted, self.make) = (name, excepted, make)
    }

    func drafts(_ count: Int) throws -> [DraftEvent] {
        var traffic = CostTraffic()
        make(&traffic, count)
        return try traffic.events.map { try $0.draft() }
    }

    /// The places of all items behind it change with an item that comes or goes, and are told: the list is the remote's order.
    private static let placesAreTold: Set<String> = ["replay --step"]
    /// A step shows the reactions of a message before and after.
    private static let reactionsAreTold: Set<String> = ["replay --step"]

    static let all: [CostShape] = rows + items + chats + communities + others
}

// MARK: - Rows

extension CostShape {
    private static let rows: [CostShape] = [
        CostShape("a row with ever new columns") { traffic, count in
            traffic.row("INSERT", #"{"id":"a"}"#)
            for number in 0..<40 * count { traffic.row("UPDATE", #"{"id":"a","c\#(number)":\#(number)}"#) }
        },
        CostShape("a row with ever new columns that come late") { traffic, count in
            traffic.row("INSERT", #"{"id":"a"}"#, at: 0)
            for number in 0..<20 * count {
                traffic.row("UPDATE", #"{"id":"a","c\#(number)":\#(number)}"#, at: 100_000 - number)
            }
        },
        CostShape("a row with ever new unknown columns") { traffic, count in
            traffic.row("INSERT", #"{"id":"a"}"#)
            for number in 0..<20 * count {
                traffic.row("UPDATE", #"{"id":"a"}"#, columns: #"[{"name":"id"},{"name":"c\#(number)"}]"#)
            }
        },
        CostShape("small updates of a large row") { traffic, count in
            let text = String(repeating: "x", count: 400 * count)
            traffic.row("INSERT", #"{"id":"a","text":"\#(text)","n":0}"#)
            for number in 1...count { traffic.row("UPDATE", #"{"id":"a","n":\#(number)}"#) }
        },
        CostShape("a note with ever new columns") { traffic, count in
            traffic.row("INSERT", #"{"id":"a"}"#, table: "notes")
            for number in 0..<40 * count {
                traffic.row("UPDATE", #"{"id":"a","c\#(number)":\#(number)}"#, table: "notes")
            }
        },
        CostShape("a large row that is deleted and comes back") { traffic, count in
            let columns = (0..<20 * count).map { #","c\#($0)":\#($0)"# }.joined()
            traffic.row("INSERT", #"{"id":"a"\#(columns)}"#)
            for _ in 0..<count {
                traffic.row("UPDATE", #"{"id":"a","deleted_at":"2026-02-01T00:00:00Z"}"#)
                traffic.row("UPDATE", #"{"id":"a","deleted_at":null}"#)
            }
        },
        CostShape("a row that comes and goes") { traffic, count in
            for number in 0..<10 * count {
                traffic.row("INSERT", #"{"id":"a","n":\#(number)}"#)
                traffic.row("DELETE", "{}", old: #"{"id":"a"}"#)
            }
        },
        CostShape("many changes of a small row") { traffic, count in
            for number in 0..<10 * count { traffic.row("UPDATE", #"{"id":"a","n":\#(number),"t":"text"}"#) }
        },
        CostShape("many rows") { traffic, count in
            for number in 0..<10 * count { traffic.row("INSERT", #"{"id":"r\#(number)","n":\#(number)}"#) }
        },
        CostShape("a list in a row in another order") { traffic, count in
            for _ in 0..<count {
                let list = traffic.shuffled(200).map { #""w\#($0)""# }.joined(separator: ",")
                traffic.row("UPDATE", #"{"id":"a","list":[\#(list)]}"#)
            }
        },
        CostShape("one long list in a row in another order") { traffic, count in
            for _ in 0..<2 {
                let list = traffic.shuffled(40 * count).map { #""w\#($0)""# }.joined(separator: ",")
                traffic.row("UPDATE", #"{"id":"a","list":[\#(list)]}"#)
            }
        },
        CostShape("conversations that grow by a message") { traffic, count in
            for number in 0..<count {
                traffic.row("UPDATE", #"{"id":"v","messages":[\#(messages(0...number))]}"#, table: "conversations")
            }
        },
        CostShape("a conversation in the other order") { traffic, count in
            for number in 0..<count {
                let order = number % 2 == 0 ? Array(0..<20) : Array((0..<20).reversed())
                traffic.row("UPDATE", #"{"id":"v","messages":[\#(messages(order))]}"#, table: "conversations")
            }
        },
        CostShape("a long conversation that is renamed") { traffic, count in
            traffic.row("INSERT", #"{"id":"v","messages":[\#(messages(0..<10 * count))]}"#, table: "conversations")
            for number in 0..<10 * count {
                traffic.row("UPDATE", #"{"id":"v","title":"t\#(number)"}"#, table: "conversations")
            }
        },
        CostShape("a conversation that is deleted and made again with new messages") { traffic, count in
            for number in 0..<20 * count {
                let list = messages(3 * number..<3 * number + 3)
                traffic.row("INSERT", #"{"id":"v","messages":[\#(list)]}"#, table: "conversations")
                traffic.row("DELETE", "{}", table: "conversations", old: #"{"id":"v"}"#)
            }
        },
    ]

    private static func messages(_ numbers: some Sequence<Int>) -> String {
        numbers.map { #"{"id":"m\#($0)","role":"user","content":"t\#($0)"}"# }.joined(separator: ",")
    }
}

// MARK: - Items, sessions

extension CostShape {
    private static let items: [CostShape] = [
        CostShape("tasks behind all others") { traffic, count in
            for number in 0..<5 * count { traffic.task("INSERT", number, createdAt: number) }
        },
        CostShape("tasks before all others", excepted: placesAreTold) { traffic, count in
            for number in 0..<2 * count { traffic.task("INSERT", number, createdAt: 100_000 - number) }
        },
        CostShape("a task with ever new columns") { traffic, count in
            traffic.row("INSERT", #"{"id":"a","status":"open"}"#, table: "tasks")
            for number in 0..<40 * count {
                traffic.row("UPDATE", #"{"id":"a","c\#(number)":\#(number)}"#, table: "tasks")
            }
        },
        CostShape("small updates of a large task") { traffic, count in
            let columns = (0..<40 * count).map { #","c\#($0)":\#($0)"# }.joined()
            traffic.row("INSERT", #"{"id":"a","status":"open"\#(columns)}"#, table: "tasks")
            for number in 0..<10 * count {
                traffic.row("UPDATE", #"{"id":"a","c1":\#(number),"c\#(number)":null}"#, table: "tasks")
            }
        },
        CostShape("a large task that moves between lists and is deleted and restored") { traffic, count in
            let columns = (0..<20 * count).map { #","c\#($0)":\#($0)"# }.joined()
            traffic.row("INSERT", #"{"id":"a","status":"open"\#(columns)}"#, table: "tasks")
            for number in 0..<6 * count {
                traffic.row("UPDATE", #"{"id":"a","project_id":"p\#(number % 2)"}"#, table: "tasks")
                let time = number % 2 == 0 ? #""2026-02-01T00:00:00Z""# : "null"
                traffic.row("UPDATE", #"{"id":"a","deleted_at":\#(time)}"#, table: "tasks")
            }
        },
        CostShape("a large task before which others come", excepted: placesAreTold) { traffic, count in
            let columns = (0..<40 * count).map { #","c\#($0)":\#($0)"# }.joined()
            traffic.row("INSERT", #"{"id":"a","status":"open"\#(columns)}"#, table: "tasks")
            for number in 0..<2 * count { traffic.task("INSERT", number, createdAt: 100_000 - number) }
        },
        CostShape("a task that moves from list to list") { traffic, count in
            for number in 0..<10 * count {
                traffic.row("UPDATE", #"{"id":"a","project_id":"p\#(number % 3)"}"#, table: "tasks")
            }
        },
        CostShape("a list in the other order") { traffic, count in
            for number in 0..<count {
                let order = number % 2 == 0 ? Array(0..<20) : Array((0..<20).reversed())
                traffic.items(order.map { traffic.item($0) })
            }
        },
        CostShape("one long list in another order") { traffic, count in
            for _ in 0..<2 { traffic.items(traffic.shuffled(5 * count).map { traffic.item($0) }) }
        },
        CostShape("many lists") { traffic, count in
            for number in 0..<4 * count {
                traffic.add("items.message/1", #"{"project":"p\#(number)","items":[\#(traffic.item(number))]}"#)
            }
        },
        CostShape("links of an item in another order") { traffic, count in
            for _ in 0..<count {
                let list = traffic.shuffled(200).map { #""w\#($0)""# }.joined(separator: ",")
                traffic.items([traffic.item(1, more: #","deps":[\#(list)]"#)])
            }
        },
        CostShape("a session that changes") { traffic, count in
            for number in 0..<20 * count {
                traffic.status(
                    "vibestatus-1.json",
                    #"{"state":"\#(number % 2 == 0 ? "idle" : "working")","project":"p"}"#
                )
            }
        },
        CostShape("a session that comes and goes") { traffic, count in
            for _ in 0..<10 * count {
                traffic.status("vibestatus-1.json", #"{"state":"idle","project":"p"}"#)
                traffic.status("vibestatus-1.json", nil)
            }
        },
        CostShape("many sessions") { traffic, count in
            for number in 0..<5 * count {
                traffic.status("vibestatus-\(number).json", #"{"state":"idle","project":"p"}"#)
            }
        },
        CostShape("many prompts") { traffic, count in
            for number in 0..<5 * count {
                traffic.status(
                    "vibestatus-prompt-\(number).json",
                    #"{"session_id":"\#(number)","project":"p","prompt_message":"q","timestamp":"2026-02-01T00:00:00Z"}"#
                )
            }
        },
    ]
}

// MARK: - Messages

extension CostShape {
    private static let chats: [CostShape] = [
        CostShape("messages") { traffic, count in
            for number in 0..<20 * count { traffic.message(number) }
        },
        CostShape("edits of one message") { traffic, count in
            traffic.message(0)
            for number in 1...10 * count { traffic.message(0, edit: number) }
        },
        CostShape("edits of one message that come late") { traffic, count in
            traffic.message(0)
            for number in 1...5 * count { traffic.message(0, edit: 100_000 - number) }
        },
        CostShape("a text in another order") { traffic, count in
            traffic.message(0)
            for number in 1...count {
                let words = traffic.shuffled(200).map { "w\($0)" }.joined(separator: " ")
                traffic.message(0, edit: number, text: words)
            }
        },
        CostShape("messages that are deleted") { traffic, count in
            for number in 0..<10 * count {
                traffic.message(number)
                traffic.dispatch("MESSAGE_DELETE", #"{"id":"\#(1000 + number)","channel_id":"7"}"#)
            }
        },
        CostShape("answers to one message, which is edited") { traffic, count in
            traffic.message(0)
            for number in 1...10 * count { traffic.message(number, answering: 0) }
            for number in 1...10 * count { traffic.message(0, edit: number) }
        },
        CostShape("answers to answers") { traffic, count in
            traffic.message(0)
            for number in 1...10 * count { traffic.message(number, answering: number - 1) }
        },
        CostShape("reactions to one message, which is edited", excepted: reactionsAreTold) { traffic, count in
            traffic.message(0)
            for number in 0..<10 * count { traffic.reaction("ADD", user: number) }
            for number in 1...2 { traffic.message(0, edit: number) }
        },
        CostShape("a reaction that comes and goes") { traffic, count in
            traffic.message(0)
            for number in 0..<10 * count { traffic.reaction(number % 2 == 0 ? "ADD" : "REMOVE", user: 5) }
        },
        CostShape("messages in many channels") { traffic, count in
            for number in 0..<10 * count { traffic.message(number, channel: number) }
        },
    ]
}

// MARK: - Guilds

extension CostShape {
    private static let communities: [CostShape] = [
        CostShape("roles deleted that nobody has") { traffic, count in
            for number in 0..<10 * count { traffic.member(number) }
            for number in 0..<10 * count {
                traffic.dispatch("GUILD_ROLE_DELETE", #"{"guild_id":"9","role_id":"\#(100_000 + number)"}"#)
            }
        },
        CostShape("roles deleted that one member each has") { traffic, count in
            for number in 0..<10 * count { traffic.member(number, roles: [100_000 + number]) }
            for number in 0..<10 * count {
                traffic.dispatch("GUILD_ROLE_DELETE", #"{"guild_id":"9","role_id":"\#(100_000 + number)"}"#)
            }
        },
        CostShape("roles of one member that are deleted, and a short list again and again") { traffic, count in
            traffic.member(5, roles: Array(0..<20 * count))
            for number in 0..<20 * count {
                traffic.dispatch("GUILD_ROLE_DELETE", #"{"guild_id":"9","role_id":"\#(number)"}"#)
            }
            for _ in 0..<20 * count { traffic.member(5) }
        },
        CostShape("guilds that are deleted beside a large one") { traffic, count in
            for number in 0..<10 * count { traffic.member(number) }
            for number in 0..<10 * count { traffic.dispatch("GUILD_DELETE", #"{"id":"\#(100_000 + number)"}"#) }
        },
        CostShape("guilds that come and go") { traffic, count in
            for number in 0..<10 * count { traffic.dispatch("GUILD_CREATE", traffic.guild(number)) }
            for number in 0..<10 * count { traffic.dispatch("GUILD_DELETE", #"{"id":"\#(100 + number)"}"#) }
        },
        CostShape("READY beside many guilds") { traffic, count in
            for number in 0..<10 * count { traffic.dispatch("GUILD_CREATE", traffic.guild(number)) }
            for number in 0..<10 * count {
                traffic.dispatch("READY", #"{"user_id":"5","guilds":["\#(100 + number % 2)"],"read_states":[]}"#)
            }
        },
        CostShape("answers about another guild") { traffic, count in
            for number in 0..<10 * count { traffic.member(number) }
            for _ in 0..<10 * count {
                traffic.add("gateway.rest/1", #"{"data":[]}"#, ["path": "/api/v1/guilds/8/members?limit=100"])
            }
        },
        CostShape("channels that are deleted beside one where many type and speak") { traffic, count in
            for number in 0..<5 * count {
                traffic.dispatch("TYPING_START", #"{"channel_id":"1","user_id":"\#(number + 100)"}"#)
                traffic.dispatch(
                    "VOICE_STATE_UPDATE",
                    #"{"guild_id":"9","channel_id":"1","user_id":"\#(number + 100)"}"#
                )
            }
            for number in 0..<10 * count {
                traffic.dispatch("CHANNEL_DELETE", #"{"id":"\#(100_000 + number)","guild_id":"9"}"#)
            }
        },
        CostShape("channels that are renamed") { traffic, count in
            for number in 0..<10 * count {
                traffic.dispatch(
                    "CHANNEL_UPDATE",
                    #"{"id":"7","guild_id":"9","name":"c\#(number)","type":0,"position":1}"#
                )
            }
        },
        CostShape("a member who comes and goes") { traffic, count in
            for _ in 0..<10 * count {
                traffic.member(5)
                traffic.dispatch("GUILD_MEMBER_REMOVE", #"{"guild_id":"9","user_id":"105"}"#)
            }
        },
        CostShape("roles of a member in another order") { traffic, count in
            for _ in 0..<count { traffic.member(5, roles: traffic.shuffled(200)) }
        },
        CostShape("a presence that changes") { traffic, count in
            for number in 0..<20 * count {
                traffic.dispatch(
                    "PRESENCE_UPDATE",
                    #"{"user_id":"5","status":"\#(number % 2 == 0 ? "online" : "idle")"}"#
                )
            }
        },
        CostShape("presences of many users") { traffic, count in
            for number in 0..<20 * count {
                traffic.dispatch("PRESENCE_UPDATE", #"{"user_id":"\#(number)","status":"online"}"#)
            }
        },
        CostShape("bans that come and go") { traffic, count in
            for number in 0..<20 * count {
                traffic.dispatch("GUILD_BAN_\(number % 2 == 0 ? "ADD" : "REMOVE")", #"{"guild_id":"9","user_id":"5"}"#)
            }
        },
        CostShape("a user who changes the voice channel") { traffic, count in
            for number in 0..<20 * count {
                traffic.dispatch(
                    "VOICE_STATE_UPDATE",
                    #"{"guild_id":"9","channel_id":"\#(number % 2 + 1)","user_id":"5"}"#
                )
            }
        },
    ]
}

// MARK: - Others

extension CostShape {
    private static let others: [CostShape] = [
        CostShape("frames that nobody knows") { traffic, count in
            for number in 0..<20 * count { traffic.dispatch("NAME_\(number)", "{}") }
        },
        CostShape("connections") { traffic, count in
            for number in 0..<10 * count {
                traffic.add("recorder.link/1", "", ["link": "open", "connection": "c\(number)"])
                traffic.message(number)
            }
        },
        CostShape("numbers that never came") { traffic, count in
            for number in 0..<10 * count { traffic.message(number, s: 3 * number + 1) }
        },
        CostShape("numbers that never came, all in the time of each report") { traffic, count in
            for number in 0..<10 * count { traffic.message(number, s: 3 * number + 1) }
            for number in 0..<10 * count { traffic.gap("hole", from: number % 2, to: 100_000) }
        },
        CostShape("reports of lost connections that overlap") { traffic, count in
            for number in 0..<10 * count {
                traffic.gap("lost", from: number, to: 100_000, topic: number % 2 == 0 ? "t\(number)" : nil)
            }
            for number in 0..<10 * count {
                traffic.add("recorder.link/1", "", ["link": "open", "connection": "c\(number)"])
                traffic.message(number)
                traffic.add("recorder.link/1", "", ["link": "closed", "connection": "c\(number)"])
            }
        },
        CostShape("gaps that open and close") { traffic, count in
            for number in 0..<20 * count { traffic.gap("lost", from: number, to: nil) }
            for number in 0..<20 * count { traffic.gap("lost", from: number, to: 100_000) }
        },
        CostShape("numbers that come late, one of two") { traffic, count in
            traffic.message(0, s: 1)
            traffic.message(1, s: 1_000_000)
            for number in 1...20 * count { traffic.message(number, s: 2 * number) }
        },
        CostShape("numbers that come in the other order") { traffic, count in
            for number in 0..<10 * count { traffic.message(number, s: 100_000 - 3 * number) }
        },
        CostShape("commits that each write a file") { traffic, count in
            for number in 0..<5 * count { traffic.commit(file: "m\(number)", text: "text \(number)") }
        },
        CostShape("commits that edit one file beside many") { traffic, count in
            for number in 0..<5 * count { traffic.commit(file: "m\(number)", text: "text") }
            for number in 0..<5 * count { traffic.commit(file: "m0", text: "edit \(number)") }
        },
    ]
}

/// The events of a shape.
struct CostTraffic {
    struct Event {
        let number: Int
        let kind: String
        let payload: String
        let attributes: [String: String]

        func draft() throws -> DraftEvent {
            DraftEvent(
                recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                source: try SourceName("app"),
                kind: try EventKind(kind),
                key: try EventKey("k/\(number)"),
                attributes: try Attributes(
                    attributes.sorted { $0.key < $1.key }.map { Attributes.Pair(name: $0.key, value: $0.value) }
                ),
                payload: Array(payload.utf8)
            )
        }
    }

    private(set) var events: [Event] = []
    private var random = SeededGenerator(seed: 43)
    private var tree: [String: Int] = [:]

    mutating func add(
        _ kind: String,
        _ payload: String,
        _ attributes: [String: String] = ["dir": "in", "connection": "c1"]
    ) {
        events.append(Event(number: events.count + 1, kind: kind, payload: payload, attributes: attributes))
    }

    mutating func shuffled(_ count: Int) -> [Int] { Array(0..<count).shuffled(using: &random) }

    mutating func dispatch(_ name: String, _ data: String, s: Int? = nil) {
        add("gateway.frame/1", #"{"op":0,"d":\#(data),"s":\#(s ?? events.count + 1),"t":"\#(name)"}"#)
    }

    private static func time(_ seconds: Int) -> String {
        Timestamp(seconds: 1_770_000_000 + Int64(seconds)).description
    }

    mutating func message(
        _ number: Int,
        channel: Int = 7,
        edit: Int? = nil,
        text: String? = nil,
        answering: Int? = nil,
        s: Int? = nil
    ) {
        let edited = edit.map { #","edited_at":"\#(Self.time($0))""# } ?? ""
        let reply = answering.map { #","reply_to_id":"\#(1000 + $0)""# } ?? ""
        dispatch(
            edit == nil ? "MESSAGE_CREATE" : "MESSAGE_UPDATE",
            #"{"id":"\#(1000 + number)","channel_id":"\#(channel)","author_id":"5","author_username":"ada","#
                + #""content":"\#(text ?? "text \(edit ?? number)")","created_at":"\#(Self.time(0))"\#(edited)\#(reply)}"#,
            s: s
        )
    }

    mutating func reaction(_ word: String, user: Int) {
        dispatch(
            "MESSAGE_REACTION_\(word)",
            #"{"channel_id":"7","message_id":"1000","user_id":"\#(user)","emoji":"x"}"#
        )
    }

    mutating func member(_ number: Int, roles: [Int] = []) {
        let ids = roles.map { #""\#($0)""# }.joined(separator: ",")
        dispatch(
            "GUILD_MEMBER_ADD",
            #"{"guild_id":"9","user_id":"\#(number + 100)","joined_at":"\#(Self.time(0))","roles":[\#(ids)]}"#
        )
    }

    func guild(_ number: Int) -> String { #"{"id":"\#(100 + number)","name":"g","owner_id":"5"}"# }

    mutating func row(
        _ type: String,
        _ record: String,
        table: String = "things",
        columns: String = "[]",
        old: String = "null",
        at seconds: Int? = nil
    ) {
        add(
            "realtime.frame/1",
            #"{"topic":"realtime:db","event":"postgres_changes","ref":null,"payload":{"ids":[1],"data":{"schema":"public","#
                + #""table":"\#(table)","commit_timestamp":"\#(Self.time(seconds ?? events.count + 1))","type":"\#(type)","#
                + #""columns":\#(columns),"record":\#(record),"old_record":\#(old),"errors":null}}}"#
        )
    }

    mutating func gap(_ reason: String, from: Int, to: Int?, topic: String? = nil) {
        let end = to.map { #","to":"\#(Self.time($0))""# } ?? ""
        let part = topic.map { #","topic":"\#($0)""# } ?? ""
        add("recorder.gap/1", #"{"reason":"\#(reason)","from":"\#(Self.time(from))"\#(end)\#(part)}"#)
    }

    mutating func task(_ type: String, _ number: Int, createdAt: Int) {
        row(
            type,
            #"{"id":"k\#(number)","title":"t","status":"open","created_at":"\#(Self.time(createdAt))"}"#,
            table: "tasks"
        )
    }

    func item(_ number: Int, more: String = "") -> String {
        #"{"id":"i\#(number)","title":"t\#(number)","status":"open","type":"task","priority":2\#(more)}"#
    }

    mutating func items(_ items: [String]) { add("items.message/1", "[\(items.joined(separator: ","))]") }

    mutating func status(_ name: String, _ text: String?) {
        add("status.file/1", text ?? "", ["op": text == nil ? "remove" : "write", "path": "/tmp/\(name)"])
    }

    /// A commit that writes one message's file.
    mutating func commit(file: String, text: String) {
        let number = events.count
        let hex = { (number: Int) in String(repeating: "0", count: 32) + String(10_000_000 + number) }
        let path = "general/\(file).md"
        let from = tree[path].map { #""from":{"mode":"100644","blob":"\#(hex($0))"},"# } ?? ""
        let parent = number == 0 ? "" : #""commit":"\#(hex(number - 1))","#
        let content = #"---\nfrom: ada\ndate: 2026-02-01T00:00:00Z\n---\n\n\#(text)\n"#
        add(
            "git.commit/1",
            #"{"commit":"\#(hex(number))","author":{"name":"Ada","email":"a@x","time":\#(1_770_000_000 + number)},"#
                + #""committer":{"name":"Ada","email":"a@x","time":\#(1_770_000_000 + number)},"subject":"s","message":"s\n","#
                + #""parents":[{\#(parent)"changes":[{"path":"\#(path)",\#(from)"to":{"mode":"100644","blob":"\#(hex(number))"}}]}],"#
                + #""files":[{"path":"\#(path)","blob":"\#(hex(number))","size":70,"text":"\#(content)"}]}"#,
            [:]
        )
        tree[path] = number
    }
}
