import EventLog
import Projections
import TestSupport
import Testing

/// Few things that change often, told late, twice and after their ends.
enum DenseTraffic: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case gateway, rows, conversations, branches

    var testDescription: String { rawValue }

    /// Makes a log of events of the source `app`, which only a seed decides.
    func events(count: Int, seed: UInt64) throws -> [RecordedEvent] {
        var random = SeededGenerator(seed: seed)
        var branch = DenseBranch()
        var last = ""
        let log = try TemporaryLog(
            try (1...count).map { number in
                // A frame that comes again.
                if self == .branches || last.isEmpty || Int.random(in: 0...11, using: &random) > 0 {
                    last = frame(number, &branch, &random)
                }
                return DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                    source: try SourceName("app"),
                    kind: try EventKind(kind),
                    attributes: ["dir": "in", "connection": "c"],
                    payload: Array(last.utf8)
                )
            }
        )
        return try log.store.allEvents()
    }

    private var kind: String {
        switch self {
        case .gateway: "gateway.frame/1"
        case .rows, .conversations: "realtime.frame/1"
        case .branches: "git.commit/1"
        }
    }

    private func frame(_ number: Int, _ branch: inout DenseBranch, _ random: inout SeededGenerator) -> String {
        switch self {
        case .gateway: Self.gateway(number, &random)
        case .rows: Self.row(&random)
        case .conversations: Self.conversation(&random)
        case .branches: branch.commit(number, &random)
        }
    }

    // MARK: - Gateways

    private static func gateway(_ number: Int, _ random: inout SeededGenerator) -> String {
        let id = Int.random(in: 1...9, using: &random)
        let channel = 10 + id % 3
        let guild = 20 + channel % 2
        let time = Int.random(in: 10...19, using: &random)
        func dispatch(_ name: String, _ data: String) -> String {
            #"{"op":0,"s":\#(number),"t":"\#(name)","d":\#(data)}"#
        }
        let user = Int.random(in: 1...3, using: &random)
        switch Int.random(in: 0...39, using: &random) {
        case 0: return dispatch("CHANNEL_DELETE", #"{"id":"\#(channel)"}"#)
        case 1: return dispatch("GUILD_DELETE", #"{"id":"\#(guild)"}"#)
        case 2, 3: return dispatch("MESSAGE_DELETE", #"{"id":"\#(id)","channel_id":"\#(channel)"}"#)
        case 4:
            return dispatch(
                "CHANNEL_UPDATE",
                #"{"id":"\#(channel)","name":"n\#(time)","type":0,"position":0,"guild_id":"\#(guild)"}"#
            )
        case 5, 6:
            return dispatch(
                "VOICE_STATE_UPDATE",
                #"{"guild_id":"\#(guild)","user_id":"\#(user)","channel_id":\#(user == 3 ? "null" : "\"\(channel)\""),"#
                    + #""session_id":"v","self_mute":false,"self_deaf":false,"joined_at":"2026-01-01T00:00:00Z"}"#
            )
        case 7:
            return dispatch(
                "GUILD_UPDATE",
                #"{"id":"\#(guild)","name":"g\#(time)","owner_id":"1","created_at":"2026-01-01T00:00:00Z"}"#
            )
        case 8:
            return dispatch(
                "GUILD_MEMBER_ADD",
                #"{"guild_id":"\#(guild)","user_id":"\#(user)","joined_at":"2026-01-01T00:00:00Z","roles":["\#(time)"]}"#
            )
        case 9: return dispatch("GUILD_MEMBER_REMOVE", #"{"guild_id":"\#(guild)","user_id":"\#(user)"}"#)
        case 10: return dispatch("PRESENCE_UPDATE", #"{"user_id":"\#(user)","status":"s\#(time)"}"#)
        case 11...17:
            return dispatch(
                "MESSAGE_CREATE",
                #"{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","content":"first \#(id)","#
                    + #""author_username":"ola","created_at":"2026-01-01T00:00:00Z"}"#
            )
        default:
            // Two contents of one version; a guild beside some messages; an escape leaves the short way.
            let text = "text \(time)\(Int.random(in: 0...4, using: &random) == 0 ? "\\u0021" : "")"
            let beside = Int.random(in: 0...3, using: &random) == 0 ? #","guild_id":"\#(guild)""# : ""
            return dispatch(
                "MESSAGE_UPDATE",
                #"{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","content":"\#(text)","#
                    + #""author_username":"ola","created_at":"2026-01-01T00:00:00Z","#
                    + #""edited_at":"2026-01-02T00:00:\#(time)Z"\#(beside)}"#
            )
        }
    }

    // MARK: - Rows

    private static func row(_ random: inout SeededGenerator) -> String {
        let id = Int.random(in: 1...4, using: &random)
        let time = Int.random(in: 10...39, using: &random)
        let names = ["a", "b", "c", "title", "deleted_at"].filter { _ in Bool.random(using: &random) }
        let values = names.map { name in
            name == "deleted_at" && Bool.random(using: &random)
                ? #","deleted_at":null"# : #","\#(name)":"\#(name)\#(time)""#
        }
        let record = #"{"id":"r\#(id)"\#(values.joined())}"#
        let isCut = Int.random(in: 0...7, using: &random) == 0
        let table = Int.random(in: 0...5, using: &random) == 0 ? "tasks" : "notes"
        switch Int.random(in: 0...9, using: &random) {
        case 0: return change(table, "DELETE", "null", #"{"id":"r\#(id)"}"#, time)
        case 1, 2: return change(table, "INSERT", record, "null", time)
        default: return change(table, "UPDATE", record, #"{"id":"r\#(id)"}"#, time, isCut: isCut)
        }
    }

    private static func conversation(_ random: inout SeededGenerator) -> String {
        let id = Int.random(in: 1...2, using: &random)
        let time = Int.random(in: 10...49, using: &random)
        let messages = (1...4).filter { _ in Bool.random(using: &random) }.map { number in
            #"{"id":"m\#(number)","role":"user","content":"\#(Int.random(in: 1...3, using: &random))","#
                + #""timestamp":"2026-01-01T00:00:00Z"}"#
        }
        let record = #"{"id":"c\#(id)","title":"t","messages":[\#(messages.joined(separator: ","))]}"#
        switch Int.random(in: 0...11, using: &random) {
        case 0: return change("conversations", "DELETE", "null", #"{"id":"c\#(id)"}"#, time)
        case 1: return change("conversations", "INSERT", record, "null", time)
        default: return change("conversations", "UPDATE", record, "null", time)
        }
    }

    private static func change(
        _ table: String,
        _ type: String,
        _ record: String,
        _ old: String,
        _ time: Int,
        isCut: Bool = false
    ) -> String {
        let columns = ["id", "a", "b", "c", "title", "deleted_at"].map { #"{"name":"\#($0)","type":"text"}"# }
        let errors = isCut ? #"["Error 413: Payload Too Large"]"# : "null"
        return
            #"{"topic":"realtime:db","event":"postgres_changes","ref":null,"payload":{"ids":[1],"data":{"schema":"public","#
            + #""table":"\#(table)","type":"\#(type)","commit_timestamp":"2026-02-01T00:00:\#(time)Z","errors":\#(errors),"#
            + #""columns":[\#(table == "conversations" ? "" : columns.joined(separator: ","))],"record":\#(record),"old_record":\#(old)}}}"#
    }
}

/// A branch with side branches that are merged, over three message files in two folders.
struct DenseBranch {
    /// The commits so far, each with its tree: the blob of each path.
    private var commits: [(hash: String, tree: [String: String])] = []
    private static let paths = ["general/a.md", "general/b.md", "random/a.md"]

    init() {}

    /// A commit on one of the last commits, or a merge of two. Contents are few, so that they return.
    mutating func commit(_ number: Int, _ random: inout SeededGenerator) -> String {
        let hash = random.hash(number)
        var parents = [commits.suffix(4).randomElement(using: &random) ?? ("", [:])]
        if let other = commits.suffix(4).randomElement(using: &random), other.hash != parents[0].hash,
            Int.random(in: 0...2, using: &random) == 0
        {
            parents.append(other)
        }
        var tree = parents[0].tree
        for path in Self.paths where parents.count > 1 {
            // A merge takes either side.
            if Bool.random(using: &random) { tree[path] = parents[1].tree[path] }
        }
        if parents.count == 1 || Int.random(in: 0...3, using: &random) == 0 {
            let path = Self.paths[Int.random(in: 0..<3, using: &random)]
            tree[path] = Int.random(in: 0...4, using: &random) == 0 ? nil : "\(Int.random(in: 1...5, using: &random))"
        }
        commits.append((hash, tree))
        return Self.document(hash, number, tree, parents.map { $0 })
    }

    private static func document(
        _ hash: String,
        _ number: Int,
        _ tree: [String: String],
        _ parents: [(hash: String, tree: [String: String])]
    ) -> String {
        func side(_ text: String) -> JSONValue { .object(["mode": .string("100644"), "blob": .string(blob(text))]) }
        var named: [String: String] = [:]
        let lines = parents.map { parent -> JSONValue in
            let changes = paths.filter { parent.tree[$0] != tree[$0] }.map { path -> JSONValue in
                if let text = tree[path] { named[path] = text }
                return .object([
                    "path": .string(path), "from": parent.tree[path].map(side), "to": tree[path].map(side),
                ])
            }
            return .object(["commit": parent.hash.isEmpty ? nil : .string(parent.hash), "changes": .array(changes)])
        }
        let files = named.sorted { $0.key < $1.key }.map { path, text -> JSONValue in
            let content = Self.content(text)
            return .object([
                "path": .string(path), "blob": .string(blob(text)), "size": .number(JSONNumber(content.utf8.count)),
                "text": .string(content),
            ])
        }
        let person = JSONValue.object([
            "name": .string("ann"), "email": .string("ann@example.org"),
            "time": .number(JSONNumber(1_770_000_000 + number)),
        ])
        return JSONValue.object([
            "commit": .string(hash), "author": person, "committer": person, "subject": .string("s"),
            "message": .string("s\n"),
            "parents": .array(lines), "files": .array(files),
        ]).text
    }

    private static func content(_ text: String) -> String {
        "---\nfrom: ann\ndate: 2026-01-01T00:00:00Z\n---\n\ntext \(text)\n"
    }

    /// Equal contents have one blob.
    private static func blob(_ text: String) -> String { String(repeating: "a", count: 39) + text }
}

extension SeededGenerator {
    /// The id of a commit: no other number has it.
    fileprivate mutating func hash(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 40 - digits.count) + digits
    }
}
