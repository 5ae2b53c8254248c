import Projections

/// The tables of the SQLite cache: one per array of the state document, and `replies`, which is read off the messages.
struct CacheTable: Sendable {
    /// How a member of a document's row is stored.
    enum Storage: String {
        case text = "TEXT"
        case number = "INTEGER"
        /// 0 or 1.
        case truth = "BOOLEAN"
        /// Arrays and objects, as JSON text.
        case json = "JSON"
    }

    /// One column.
    struct Column: Sendable {
        let name: String
        /// The members to follow from the row to the value.
        let path: [String]
        let storage: Storage

        init(_ name: String, _ storage: Storage = .text, from path: String...) {
            self.name = name
            self.path = path.isEmpty ? [name] : path
            self.storage = storage
        }
    }

    let name: String
    /// The array of the state document.
    let section: String
    let columns: [Column]
    /// How many of the first columns identify a row; 0 where nothing does.
    let keyCount: Int
    /// Columns that readers look rows up by, beside the key.
    var indexes: [[String]] = []

    /// `CREATE TABLE`, with a `place` column that holds the row's place in the document's order.
    var creation: String {
        let definitions = columns.map { "\"\($0.name)\" \($0.storage.rawValue)" }
        let key = columns.prefix(keyCount).map { "\"\($0.name)\"" }.joined(separator: ", ")
        let constraint = keyCount == 0 ? "" : ", PRIMARY KEY (\(key))"
        return "CREATE TABLE \"\(name)\" (\(definitions.joined(separator: ", ")), place INTEGER NOT NULL\(constraint))"
    }

    /// `INSERT` with a `?` for each column, `place` last.
    var insertion: String {
        let marks = repeatElement("?", count: columns.count + 1).joined(separator: ", ")
        return "INSERT INTO \"\(name)\" VALUES (\(marks))"
    }

    /// `CREATE INDEX`, one statement for each.
    var indexCreations: [String] {
        indexes.map { columns in
            let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
            return "CREATE INDEX \"\(name)_\(columns.joined(separator: "_"))\" ON \"\(name)\" (\(list))"
        }
    }
}

/// The schema of the cache. Raise `version` with every change.
enum CacheSchema {
    /// Stored as `user_version`.
    static let version = 1
    /// Stored as `application_id`, "ELog": tells a cache of ours from any other SQLite file.
    static let applicationID: UInt32 = 0x454C_6F67

    /// The tables, in the order they are filled.
    static let tables: [CacheTable] = chat + [replies] + people + work

    private static let chat = [
        CacheTable(
            name: "channels",
            section: "channels",
            columns: [
                .init("source"), .init("id"), .init("name"), .init("kind"), .init("guild"), .init("topic"),
                .init("position", .number), .init("parent"), .init("recipients", .json),
            ],
            keyCount: 2
        ),
        CacheTable(
            name: "messages",
            section: "messages",
            columns: [
                .init("source"), .init("channel"), .init("id"), .init("author"),
                .init("author_name", from: "authorName"), .init("created_at", from: "createdAt"),
                .init("edited_at", from: "editedAt"), .init("content"), .init("revisions", .number),
                .init("reply_to", from: "replyTo", "id"), .init("reply_state", from: "replyTo", "state"),
                .init("tags", .json), .init("files", .json), .init("images", .json), .init("attachments", .json),
                .init("reactions", .json), .init("extra", .json),
            ],
            keyCount: 3,
            indexes: [["source", "channel", "place"], ["author"]]
        ),
        CacheTable(
            name: "deleted_messages",
            section: "deletedMessages",
            columns: [
                .init("source"), .init("channel"), .init("id"), .init("cause"), .init("sequence", .number),
                .init("deleted_at", from: "deletedAt"), .init("deleted_by", from: "deletedBy"), .init("author"),
                .init("created_at", from: "createdAt"), .init("content"),
            ],
            keyCount: 3
        ),
    ]

    /// One row for each message that answers another one.
    private static let replies = CacheTable(
        name: "replies",
        section: "messages",
        columns: [
            .init("source"), .init("channel"), .init("child", from: "id"), .init("parent", from: "replyTo", "id"),
            .init("parent_state", from: "replyTo", "state"),
        ],
        keyCount: 3,
        indexes: [["source", "channel", "parent"]]
    )

    private static let people = [
        CacheTable(
            name: "guilds",
            section: "guilds",
            columns: [.init("source"), .init("id"), .init("name"), .init("owner"), .init("joined", .truth)],
            keyCount: 2
        ),
        CacheTable(
            name: "members",
            section: "members",
            columns: [.init("source"), .init("guild"), .init("user"), .init("nickname"), .init("roles", .json)],
            keyCount: 3
        ),
        CacheTable(
            name: "roles",
            section: "roles",
            columns: [
                .init("source"), .init("guild"), .init("id"), .init("name"), .init("permissions"),
                .init("position", .number), .init("color", .number),
            ],
            keyCount: 3
        ),
        CacheTable(
            name: "bans",
            section: "bans",
            columns: [.init("source"), .init("guild"), .init("user")],
            keyCount: 3
        ),
        CacheTable(
            name: "presences",
            section: "presences",
            columns: [.init("source"), .init("user"), .init("status")],
            keyCount: 2
        ),
        CacheTable(
            name: "voice_states",
            section: "voiceStates",
            columns: [.init("source"), .init("guild"), .init("user"), .init("channel")],
            keyCount: 3
        ),
        CacheTable(
            name: "read_states",
            section: "readStates",
            columns: [.init("source"), .init("channel"), .init("last_message", from: "lastMessage")],
            keyCount: 2
        ),
    ]

    private static let work = [
        CacheTable(
            name: "items",
            section: "items",
            columns: [
                .init("source"), .init("list"), .init("id"), .init("position", .number), .init("text"),
                .init("done", .truth), .init("status"), .init("created"), .init("extra", .json),
            ],
            keyCount: 3
        ),
        CacheTable(
            name: "sessions",
            section: "sessions",
            columns: [
                .init("source"), .init("id"), .init("project"), .init("status"), .init("timestamp"),
                .init("pid", .number), .init("device"), .init("state"), .init("stale", .truth),
            ],
            keyCount: 2
        ),
        CacheTable(
            name: "prompts",
            section: "prompts",
            columns: [
                .init("source"), .init("id"), .init("session"), .init("project"), .init("text"),
                .init("asked_at", from: "askedAt"), .init("state"), .init("answer"),
                .init("answered_at", from: "answeredAt"),
            ],
            keyCount: 2
        ),
        CacheTable(
            name: "rows",
            section: "rows",
            columns: [
                .init("source"), .init("table"), .init("id"), .init("state"), .init("record", .json),
                .init("unknown_columns", .json, from: "unknownColumns"),
                .init("stale_columns", .json, from: "staleColumns"),
            ],
            keyCount: 3
        ),
        CacheTable(
            name: "issues",
            section: "issues",
            columns: [.init("sequence", .number), .init("source"), .init("reason")],
            keyCount: 0
        ),
    ]
}
