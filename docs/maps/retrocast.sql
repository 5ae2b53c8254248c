-- What Retrocast's clients keep of guilds, channels and messages, as tables (docs/cache.md). Ids are 64-bit integers, times are
-- milliseconds since 1970.

CREATE TABLE guild (id INTEGER PRIMARY KEY, name TEXT, ownerId INTEGER, isJoined INTEGER NOT NULL);

CREATE TABLE channel (
    id INTEGER PRIMARY KEY,
    guildId INTEGER,
    name TEXT,
    type TEXT NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    topic TEXT,
    parentId INTEGER
);

CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    channelId INTEGER NOT NULL REFERENCES channel (id),
    authorId INTEGER,
    authorUsername TEXT,
    content TEXT NOT NULL,
    createdAt INTEGER,
    editedAt INTEGER,
    attachments TEXT
);

CREATE TABLE reaction (
    messageId INTEGER NOT NULL REFERENCES message (id),
    emoji TEXT NOT NULL,
    userId INTEGER NOT NULL,
    PRIMARY KEY (messageId, emoji, userId)
);

CREATE TABLE member (
    guildId INTEGER NOT NULL,
    userId INTEGER NOT NULL,
    nickname TEXT,
    roles TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (guildId, userId)
);

CREATE TABLE role (
    id INTEGER PRIMARY KEY,
    guildId INTEGER NOT NULL,
    name TEXT,
    color INTEGER,
    permissions INTEGER,
    position INTEGER
);

CREATE TABLE presence (userId INTEGER PRIMARY KEY, status TEXT NOT NULL);
CREATE TABLE readState (channelId INTEGER PRIMARY KEY, lastMessageId INTEGER);

CREATE INDEX channelByGuild ON channel (guildId, position);
CREATE INDEX messageByChannel ON message (channelId, id);

CREATE VIRTUAL TABLE messageSearch USING fts5 (content, content = 'message', content_rowid = 'id');
INSERT INTO messageSearch (messageSearch) VALUES ('rebuild');
CREATE TRIGGER messageAdded AFTER INSERT ON message BEGIN
    INSERT INTO messageSearch (rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER messageRemoved AFTER DELETE ON message BEGIN
    INSERT INTO messageSearch (messageSearch, rowid, content) VALUES ('delete', old.id, old.content);
END;
