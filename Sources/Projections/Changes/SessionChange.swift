import EventLog

/// A change of a session.
enum SessionChange {
    /// An accepted status was observed.
    case observed(SessionFields)
    /// The session's file or record is gone.
    case removed(EntityID)
}

/// A session's status as written.
struct SessionFields: Codable, Hashable, Sendable {
    var id: EntityID
    var project: String
    var status: String
    /// The time stamp's text as written.
    var timestamp: String?
    /// Staleness counts from this instant: the time stamp or, without one, the time of receipt.
    var instant: Timestamp
    var pid: Int64?
    var device: String?
}

/// A change of a prompt.
enum PromptChange {
    case asked(PromptFields)
    /// The prompt exists but cannot be read.
    case unreadable(EntityID)
    case removed(EntityID)
}

/// A question that a session asks, and its answer. `isAnswered` may be true without a text.
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
