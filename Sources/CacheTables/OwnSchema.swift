/// The program's own cache (`docs/cache.md`), in the same two forms as an app's. A change needs a new
/// `CacheMeta.version`.
package enum OwnSchema {
    /// The name of the meta table, as in `map`.
    static let metaTable = "meta"

    /// The schema. Every table of rows has the source in its key, because ids are unique only within a source.
    /// `messages`, `message_revisions` and `items` have an integer key for FTS5, whose tables name rows by it. The triggers keep the search
    /// tables current while `--follow` writes.
    package static let sql = """
        PRAGMA user_version = 4;

        -- Which log, which sequence, which digest. Columns of lists and objects hold JSON.
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

        CREATE TABLE sources (
            source TEXT NOT NULL PRIMARY KEY, recorded_at TEXT, remote_time TEXT, tip TEXT
        ) WITHOUT ROWID;

        CREATE TABLE guilds (
            source TEXT NOT NULL, id TEXT NOT NULL, name TEXT, owner TEXT, joined BOOLEAN,
            PRIMARY KEY (source, id)
        ) WITHOUT ROWID;
        CREATE TABLE channels (
            source TEXT NOT NULL, id TEXT NOT NULL, name TEXT, kind TEXT, guild TEXT, topic TEXT, position INTEGER,
            parent TEXT, recipients TEXT,
            PRIMARY KEY (source, id)
        ) WITHOUT ROWID;

        -- "sort" puts the messages of a channel in the remote's order.
        CREATE TABLE messages (
            row INTEGER PRIMARY KEY, source TEXT NOT NULL, channel TEXT NOT NULL, id TEXT NOT NULL, sort TEXT NOT NULL,
            author TEXT, author_name TEXT, created_at TEXT, edited_at TEXT, content TEXT, revisions INTEGER,
            reply_to TEXT, reply_state TEXT, tags TEXT, files TEXT, images TEXT, extra TEXT, compacted BOOLEAN,
            UNIQUE (source, channel, id),
            FOREIGN KEY (source, channel) REFERENCES channels (source, id)
        );
        CREATE TABLE deleted_messages (
            source TEXT NOT NULL, channel TEXT NOT NULL, id TEXT NOT NULL, cause TEXT NOT NULL, sequence INTEGER,
            deleted_at TEXT, deleted_by TEXT, author TEXT, created_at TEXT, content TEXT, compacted BOOLEAN,
            PRIMARY KEY (source, channel, id)
        ) WITHOUT ROWID;
        CREATE TABLE message_revisions (
            row INTEGER PRIMARY KEY, source TEXT NOT NULL, channel TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL,
            sequence INTEGER NOT NULL, recorded_at TEXT NOT NULL, remote_time TEXT, change TEXT NOT NULL, by TEXT,
            late BOOLEAN, version INTEGER, versions INTEGER, author TEXT, edited_at TEXT, content TEXT, reply_to TEXT,
            cause TEXT, moved_from TEXT, moved_to TEXT,
            UNIQUE (source, channel, id, number)
        );
        CREATE TABLE replies (
            source TEXT NOT NULL, channel TEXT NOT NULL, child TEXT NOT NULL, parent TEXT NOT NULL,
            parent_state TEXT NOT NULL,
            PRIMARY KEY (source, channel, child),
            FOREIGN KEY (source, channel, child) REFERENCES messages (source, channel, id)
        ) WITHOUT ROWID;
        CREATE TABLE attachments (
            source TEXT NOT NULL, channel TEXT NOT NULL, message TEXT NOT NULL, place INTEGER NOT NULL,
            attachment TEXT NOT NULL,
            PRIMARY KEY (source, channel, message, place),
            FOREIGN KEY (source, channel, message) REFERENCES messages (source, channel, id)
        ) WITHOUT ROWID;
        CREATE TABLE reactions (
            source TEXT NOT NULL, channel TEXT NOT NULL, message TEXT NOT NULL, emoji TEXT NOT NULL, user TEXT NOT NULL,
            PRIMARY KEY (source, channel, message, emoji, user),
            FOREIGN KEY (source, channel, message) REFERENCES messages (source, channel, id)
        ) WITHOUT ROWID;

        CREATE TABLE members (
            source TEXT NOT NULL, guild TEXT NOT NULL, user TEXT NOT NULL, nickname TEXT, roles TEXT,
            PRIMARY KEY (source, guild, user)
        ) WITHOUT ROWID;
        CREATE TABLE roles (
            source TEXT NOT NULL, guild TEXT NOT NULL, id TEXT NOT NULL, name TEXT, permissions TEXT, position INTEGER,
            color INTEGER,
            PRIMARY KEY (source, guild, id)
        ) WITHOUT ROWID;
        CREATE TABLE bans (
            source TEXT NOT NULL, guild TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (source, guild, user)
        ) WITHOUT ROWID;
        CREATE TABLE presences (
            source TEXT NOT NULL, user TEXT NOT NULL, status TEXT, PRIMARY KEY (source, user)
        ) WITHOUT ROWID;
        CREATE TABLE typing (
            source TEXT NOT NULL, channel TEXT NOT NULL, user TEXT NOT NULL, until TEXT NOT NULL,
            PRIMARY KEY (source, channel, user)
        ) WITHOUT ROWID;
        CREATE TABLE voice_states (
            source TEXT NOT NULL, guild TEXT NOT NULL, user TEXT NOT NULL, channel TEXT,
            PRIMARY KEY (source, guild, user)
        ) WITHOUT ROWID;
        CREATE TABLE read_states (
            source TEXT NOT NULL, channel TEXT NOT NULL, last_message TEXT, PRIMARY KEY (source, channel)
        ) WITHOUT ROWID;

        CREATE TABLE items (
            row INTEGER PRIMARY KEY, source TEXT NOT NULL, list TEXT NOT NULL, id TEXT NOT NULL, position INTEGER,
            text TEXT, done BOOLEAN, status TEXT, created TEXT, extra TEXT,
            UNIQUE (source, list, id)
        );
        CREATE TABLE item_changes (
            source TEXT NOT NULL, list TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL,
            sequence INTEGER NOT NULL, recorded_at TEXT NOT NULL, remote_time TEXT, change TEXT NOT NULL, kinds TEXT,
            by TEXT, fields TEXT,
            PRIMARY KEY (source, list, id, number)
        ) WITHOUT ROWID;

        CREATE TABLE sessions (
            source TEXT NOT NULL, id TEXT NOT NULL, project TEXT, status TEXT, timestamp TEXT, pid INTEGER, device TEXT,
            state TEXT, stale BOOLEAN,
            PRIMARY KEY (source, id)
        ) WITHOUT ROWID;
        CREATE TABLE session_transitions (
            source TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL, sequence INTEGER NOT NULL,
            recorded_at TEXT NOT NULL, remote_time TEXT, change TEXT NOT NULL, status TEXT, project TEXT, fields TEXT,
            PRIMARY KEY (source, id, number)
        ) WITHOUT ROWID;
        CREATE TABLE session_aggregates (source TEXT NOT NULL PRIMARY KEY, status TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE prompts (
            source TEXT NOT NULL, id TEXT NOT NULL, session TEXT, project TEXT, text TEXT, asked_at TEXT, state TEXT,
            answer TEXT, answered_at TEXT,
            PRIMARY KEY (source, id)
        ) WITHOUT ROWID;

        CREATE TABLE rows (
            source TEXT NOT NULL, "table" TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, record TEXT,
            unknown_columns TEXT, stale_columns TEXT,
            PRIMARY KEY (source, "table", id)
        ) WITHOUT ROWID;
        CREATE TABLE row_changes (
            source TEXT NOT NULL, "table" TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL,
            sequence INTEGER NOT NULL, recorded_at TEXT NOT NULL, remote_time TEXT, change TEXT NOT NULL, kinds TEXT,
            late BOOLEAN, version INTEGER, versions INTEGER, fields TEXT, known TEXT,
            PRIMARY KEY (source, "table", id, number)
        ) WITHOUT ROWID;
        -- Folders and notes; "place" is that among the folders and notes of "parent".
        CREATE TABLE notes_tree (
            source TEXT NOT NULL, parent TEXT NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
            path TEXT, note TEXT, pinned BOOLEAN,
            PRIMARY KEY (source, parent, place)
        ) WITHOUT ROWID;

        CREATE TABLE issues (
            sequence INTEGER NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL
        );

        CREATE VIRTUAL TABLE messages_search USING fts5 (content, content = 'messages', content_rowid = 'row');
        CREATE VIRTUAL TABLE message_revisions_search
            USING fts5 (content, content = 'message_revisions', content_rowid = 'row');
        CREATE VIRTUAL TABLE items_search USING fts5 (text, content = 'items', content_rowid = 'row');

        -- What follows runs after the rows.
        CREATE INDEX messages_by_place ON messages (source, channel, sort);
        CREATE INDEX messages_by_id ON messages (id);
        CREATE INDEX messages_by_author ON messages (author);
        CREATE INDEX messages_by_time ON messages (created_at);
        CREATE INDEX replies_by_parent ON replies (source, channel, parent);
        CREATE INDEX channels_by_id ON channels (id);
        CREATE INDEX channels_by_guild ON channels (source, guild, position);
        CREATE INDEX items_by_place ON items (source, list, position);
        CREATE INDEX items_by_id ON items (id);
        CREATE INDEX rows_by_id ON rows ("table", id);
        CREATE INDEX issues_by_sequence ON issues (sequence);

        -- Up to 8 MiB of words, not 1 MiB, are gathered before they are written, so that hardly any are merged.
        INSERT INTO messages_search (messages_search, rank) VALUES ('hashsize', 8388608);
        INSERT INTO message_revisions_search (message_revisions_search, rank) VALUES ('hashsize', 8388608);
        INSERT INTO items_search (items_search, rank) VALUES ('hashsize', 8388608);
        INSERT INTO messages_search (messages_search) VALUES ('rebuild');
        INSERT INTO message_revisions_search (message_revisions_search) VALUES ('rebuild');
        INSERT INTO items_search (items_search) VALUES ('rebuild');
        CREATE TRIGGER messages_added AFTER INSERT ON messages BEGIN
            INSERT INTO messages_search (rowid, content) VALUES (new.row, new.content);
        END;
        CREATE TRIGGER messages_removed AFTER DELETE ON messages BEGIN
            INSERT INTO messages_search (messages_search, rowid, content) VALUES ('delete', old.row, old.content);
        END;
        CREATE TRIGGER message_revisions_added AFTER INSERT ON message_revisions BEGIN
            INSERT INTO message_revisions_search (rowid, content) VALUES (new.row, new.content);
        END;
        CREATE TRIGGER message_revisions_removed AFTER DELETE ON message_revisions BEGIN
            INSERT INTO message_revisions_search (message_revisions_search, rowid, content)
            VALUES ('delete', old.row, old.content);
        END;
        CREATE TRIGGER items_added AFTER INSERT ON items BEGIN
            INSERT INTO items_search (rowid, text) VALUES (new.row, new.text);
        END;
        CREATE TRIGGER items_removed AFTER DELETE ON items BEGIN
            INSERT INTO items_search (items_search, rowid, text) VALUES ('delete', old.row, old.text);
        END;

        """

    /// The table of events, which is made where it is asked for. Its index makes questions of one source or kind cheap.
    package static let eventsSQL = """
        -- The events of the log; "payload" is JSON, also of what is none.
        CREATE TABLE events (
            sequence INTEGER PRIMARY KEY, recorded_at TEXT NOT NULL, source TEXT NOT NULL, kind TEXT NOT NULL, key TEXT,
            attributes TEXT NOT NULL, redacted BOOLEAN NOT NULL, bytes INTEGER NOT NULL, payload TEXT NOT NULL
        );
        CREATE INDEX events_by_kind ON events (source, kind);

        """
}
