import EventLogCache
import GRDB
import Projections

// docs/cache.md: begin
/// Version 1 of an app's cache: the texts of messages.
struct ChatCacheV1: CacheSchema {
    let version = 1
    var tables: [String: Set<StateList>] { ["message": [.section(.messages)]] }

    func create(in database: Database) throws {
        try database.execute(sql: "CREATE TABLE message (channel TEXT, id TEXT, text TEXT, PRIMARY KEY (channel, id))")
    }

    func apply(_ change: CacheChange, in database: Database) throws {
        switch change {
        case .added(_, let row), .row(_, let row):
            let insertion = try database.cachedStatement(sql: "INSERT OR REPLACE INTO message VALUES (?, ?, ?)")
            try insertion.execute(arguments: [row["channel"], row["id"], row["content"]])
        case .removed(_, let key):
            let deletion = try database.cachedStatement(sql: "DELETE FROM message WHERE channel = ? AND id = ?")
            try deletion.execute(arguments: [key["channel"], key["id"]])
        case .cleared: try database.execute(sql: "DELETE FROM message")
        }
    }
}
// docs/cache.md: end

/// Version 2: authors, what messages answer, channels, and drafts that no log holds.
struct ChatCacheV2: CacheSchema {
    let version = 2
    var tables: [String: Set<StateList>] { ["channel": [.section(.channels)], "message": [.section(.messages)]] }

    func create(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE channel (id TEXT PRIMARY KEY, name TEXT);
                CREATE TABLE message (
                    channel TEXT, id TEXT, sort TEXT, author TEXT, reply_to TEXT, text TEXT, PRIMARY KEY (channel, id)
                );
                CREATE TABLE draft (channel TEXT PRIMARY KEY, text TEXT);
                """
        )
    }

    func apply(_ change: CacheChange, in database: Database) throws {
        switch change {
        case .added(.section(.channels), let row), .row(.section(.channels), let row):
            let insertion = try database.cachedStatement(sql: "INSERT OR REPLACE INTO channel VALUES (?, ?)")
            try insertion.execute(arguments: [row["id"], row["name"]])
        case .added(_, let row), .row(_, let row):
            let insertion = try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?, ?)"
            )
            try insertion.execute(arguments: [
                row["channel"], row["id"], row["order"], row["author"], row["replyTo.id"], row["content"],
            ])
        case .removed(.section(.channels), let key):
            try database.cachedStatement(sql: "DELETE FROM channel WHERE id = ?").execute(arguments: [key["id"]])
        case .removed(_, let key):
            let deletion = try database.cachedStatement(sql: "DELETE FROM message WHERE channel = ? AND id = ?")
            try deletion.execute(arguments: [key["channel"], key["id"]])
        case .cleared(let list):
            try database.execute(sql: "DELETE FROM \(list == .section(.channels) ? "channel" : "message")")
        }
    }

    func finish(in database: Database) throws {
        try database.execute(sql: "CREATE INDEX message_by_place ON message (channel, sort)")
    }

    func carryOver(from old: Database, to new: Database) throws {
        guard try old.tableExists("draft") else { return }
        for draft in try Row.fetchAll(old, sql: "SELECT channel, text FROM draft") {
            try new.execute(sql: "INSERT INTO draft VALUES (?, ?)", arguments: [draft["channel"], draft["text"]])
        }
    }
}

// docs/cache.md: begin
/// Version 3: reactions have rows of their own, texts can be searched.
struct ChatCacheV3: CacheSchema {
    let version = 3
    var tables: [String: Set<StateList>] {
        ["channel": [.section(.channels)], "message": [.section(.messages)], "reaction": [.section(.messages)]]
    }

    func create(in database: Database) throws {
        try ChatCacheV2().create(in: database)
        try database.execute(
            sql: """
                CREATE TABLE reaction (
                    channel TEXT, message TEXT, emoji TEXT, user TEXT, PRIMARY KEY (channel, message, emoji, user)
                )
                """
        )
    }

    func apply(_ change: CacheChange, in database: Database) throws {
        switch change {
        case .added(.section(.messages), let row): try addReactions(of: row, in: database)
        case .row(.section(.messages), let row):
            // Replacing would not tell the full-text index.
            try ChatCacheV2().apply(.removed(.section(.messages), row), in: database)
            try removeReactions(of: row, in: database)
            try addReactions(of: row, in: database)
        case .removed(.section(.messages), let key): try removeReactions(of: key, in: database)
        default: break
        }
        try ChatCacheV2().apply(change, in: database)
    }

    func finish(in database: Database) throws {
        try ChatCacheV2().finish(in: database)
        try database.create(virtualTable: "message_search", using: FTS5()) { table in
            table.synchronize(withTable: "message")
            table.column("text")
        }
    }

    func carryOver(from old: Database, to new: Database) throws {
        try ChatCacheV2().carryOver(from: old, to: new)
    }

    private func removeReactions(of message: CacheRow, in database: Database) throws {
        let deletion = try database.cachedStatement(sql: "DELETE FROM reaction WHERE channel = ? AND message = ?")
        try deletion.execute(arguments: [message["channel"], message["id"]])
    }

    private func addReactions(of message: CacheRow, in database: Database) throws {
        for reaction in message.array("reactions") {
            for user in reaction.array("users") {
                let insertion = try database.cachedStatement(sql: "INSERT INTO reaction VALUES (?, ?, ?, ?)")
                try insertion.execute(arguments: [message["channel"], message["id"], reaction["emoji"], user.value])
            }
        }
    }
}
// docs/cache.md: end
