-- The cached models of VibeChannel's iOS app: CachedRepository, CachedChannel, CachedMessage (docs/cache.md).
-- Dates are seconds since 2001, as SwiftData stores them; lists are JSON.

CREATE TABLE CachedRepository (
    id TEXT NOT NULL PRIMARY KEY,           -- owner/name
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    fullName TEXT NOT NULL,
    lastSyncedAt REAL,
    lastRemoteCommitSHA TEXT,
    lastRemoteCommitDate REAL
);

CREATE TABLE CachedChannel (
    id TEXT NOT NULL PRIMARY KEY,           -- owner/name/channel
    name TEXT NOT NULL,
    repositoryId TEXT NOT NULL REFERENCES CachedRepository (id),
    lastSyncedAt REAL,
    unreadCount INTEGER NOT NULL DEFAULT 0,
    lastReadMessageId TEXT
);

CREATE TABLE CachedMessage (
    id TEXT NOT NULL,                       -- the file's name without .md
    channelId TEXT NOT NULL REFERENCES CachedChannel (id),
    filename TEXT NOT NULL,
    "from" TEXT NOT NULL,
    date REAL,
    replyTo TEXT,
    tags TEXT,
    files TEXT,
    images TEXT,
    attachments TEXT,
    edited REAL,
    githubIssue TEXT,
    content TEXT NOT NULL,
    -- The app's own key is id alone: a message that moved takes the row of the other channel away (VC-B10).
    PRIMARY KEY (channelId, id)
);

CREATE INDEX CachedChannelByRepository ON CachedChannel (repositoryId, name);
CREATE INDEX CachedMessageByDate ON CachedMessage (channelId, date);
