import EventLog

/// What can happen to a session.
enum SessionChange {
    /// An accepted status was observed.
    case observed(SessionFields)
    /// Its file or record is gone.
    case removed(EntityID)
}

/// A session's status as written.
struct SessionFields: Codable, Hashable, Sendable {
    var id: EntityID
    var project: String
    var status: String
    /// The time stamp's text as written.
    var timestamp: String?
    /// What staleness counts from: the time stamp's instant, else when it was recorded.
    var instant: Timestamp
    var pid: Int64?
    var device: String?
}

/// What can happen to a prompt.
enum PromptChange {
    case asked(PromptFields)
    /// Something stands there that cannot be read.
    case unreadable(EntityID)
    case removed(EntityID)
}

/// A question that a session asks.
struct PromptFields: Codable, Hashable, Sendable {
    var id: EntityID
    var session: String?
    var project: String?
    var text: String?
    var askedAt: Timestamp?
    var answer: String?
    var answeredAt: Timestamp?
    var isAnswered = false
}
