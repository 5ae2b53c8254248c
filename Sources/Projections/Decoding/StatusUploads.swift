import EventLog

/// What a Mac uploads of the status files that it sees, as its phone gets to know it.
///
/// A session goes up when the pair of session and status is another one than was sent last. That is forgotten when the
/// session ends, and when its file says nothing for a moment while other sessions are there.
struct StatusUploads: Codable, Sendable {
    private struct Upload: Codable {
        var status: String
        var at: Timestamp
    }

    private var sent: [EntityID: Upload] = [:]
    private var present: Set<EntityID> = []

    /// A record that was sent so long ago is not looked for any more, in seconds.
    private static let windowSeconds: Int64 = 1800

    /// A status was seen: what goes up, if anything.
    mutating func take(_ fields: SessionFields, in context: FoldContext) -> SessionFields? {
        if context.rules.isEmpty { return fields }
        present.insert(fields.id)
        if context.rules.contains(.sameStatusIsNotUploaded), sent[fields.id]?.status == fields.status { return nil }
        sent[fields.id] = Upload(status: fields.status, at: context.event.recordedAt)
        var uploaded = fields
        if context.rules.contains(.processIsNotUploaded) { uploaded.pid = nil }
        if context.rules.contains(.timeIsThatOfUpload) {
            uploaded.instant = context.event.recordedAt
            uploaded.timestamp = context.event.recordedAt.description
        }
        return uploaded
    }

    /// A file says no status.
    mutating func takeFault(of id: EntityID, in context: FoldContext) {
        guard context.rules.contains(.unreadableFileIsUploadedAgain), present.contains(where: { $0 != id }) else {
            return
        }
        sent[id] = nil
    }

    /// A file is gone: whether its session goes out of the cloud.
    mutating func takeRemoval(of id: EntityID, in context: FoldContext) -> Bool {
        if context.rules.isEmpty { return true }
        guard present.remove(id) != nil else { return false }
        let upload = sent.removeValue(forKey: id)
        guard context.rules.contains(.lateEndIsNotUploaded), let upload else { return true }
        return context.event.recordedAt.seconds - upload.at.seconds < Self.windowSeconds
    }
}
