import EventLog

/// Decides which status files a Mac uploads, and so what its phone sees. Only profiles use it.
///
/// A session is uploaded unless its status was sent last. That memory ends when the session ends while others exist,
/// and when its file is unreadable while others exist.
struct StatusUploads: Codable, Sendable {
    /// The last status sent for a session, and when the log received it.
    private struct Upload: Codable {
        var status: String
        var at: Timestamp
    }

    /// The last upload of each session that exists; while none does, perhaps that of the last one. A session without one is
    /// uploaded by its next status, whatever it is.
    private var sent: [EntityID: Upload] = [:]
    /// The sessions whose files exist.
    private var present: Set<EntityID> = []
    /// How many prompts each prompt file has uploaded; counted only where every text is a prompt.
    private var promptCounts: [EntityID: Int] = [:]

    /// The client looks for no record sent longer ago than this, in seconds.
    private static let windowSeconds: Int64 = 1800
    /// How long a slow upload takes, in seconds.
    private static let saveSeconds: Int64 = 3

    /// Notes a session's status and returns what is uploaded; `nil` for nothing.
    mutating func take(_ fields: SessionFields, in context: FoldContext) -> SessionFields? {
        if context.rules.isEmpty { return fields }
        // Each upload forgets the sessions that no longer exist. One of these is left only where no session exists.
        if present.isEmpty { sent = sent.filter { $0.key == fields.id } }
        present.insert(fields.id)
        if context.rules.contains(.nothingIsUploaded) { return nil }
        if let upload = sent[fields.id], isHeldBack(fields, by: upload, in: context) { return nil }
        sent[fields.id] = Upload(status: fields.status, at: context.event.recordedAt)
        var uploaded = fields
        if context.rules.contains(.processIsNotUploaded) { uploaded.pid = nil }
        if context.rules.contains(.timeIsThatOfUpload) {
            uploaded.instant = context.event.recordedAt
            uploaded.timestamp = context.event.recordedAt.description
        }
        return uploaded
    }

    /// Whether a status is not uploaded because of its session's earlier upload.
    private mutating func isHeldBack(_ fields: SessionFields, by upload: Upload, in context: FoldContext) -> Bool {
        if context.rules.contains(.firstStatusStays) { return true }
        if context.rules.contains(.sameStatusIsNotUploaded), upload.status == fields.status { return true }
        let isSaving = context.event.recordedAt.seconds - upload.at.seconds < Self.saveSeconds
        guard isSaving, context.rules.contains(.changeDuringASaveIsLost) else { return false }
        // The Mac takes the status for sent, so a repeat of it is not sent either. The time of the upload stays.
        sent[fields.id]?.status = fields.status
        return true
    }

    /// The id of the prompt in a file's new text: the file's own, or `FILE#2`, `FILE#3` if every text is a prompt.
    mutating func prompt(of file: EntityID, in context: inout FoldContext) -> EntityID {
        guard context.rules.contains(.everyPromptStays) else { return file }
        let count = (promptCounts[file] ?? 0) + 1
        promptCounts[file] = count
        return count == 1 ? file : context.names.id("\(context.names.text(file))#\(count)")
    }

    /// Notes that a session's file is unreadable.
    mutating func takeFault(of id: EntityID, in context: FoldContext) {
        guard context.rules.contains(.unreadableFileIsUploadedAgain), present.contains(where: { $0 != id }) else {
            return
        }
        sent[id] = nil
    }

    /// Notes that a session's file is gone and returns whether the session leaves the cloud. A file that never had a
    /// readable status has no session there.
    mutating func takeRemoval(of id: EntityID, in context: FoldContext) -> Bool {
        if context.rules.isEmpty { return true }
        guard present.remove(id) != nil else { return false }
        let upload = sent[id]
        if !present.isEmpty || !context.rules.contains(.lastSessionIsRememberedAsSent) { sent[id] = nil }
        if context.rules.contains(.endsAreUploadedByTens), present.count % 10 != 0 { return false }
        guard context.rules.contains(.lateEndIsNotUploaded), let upload else { return true }
        return context.event.recordedAt.seconds - upload.at.seconds < Self.windowSeconds
    }
}
