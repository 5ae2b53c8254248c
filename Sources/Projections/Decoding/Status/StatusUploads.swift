import EventLog

/// What a Mac uploads of the status files that it sees, as its phone gets to know it.
///
/// A session goes up when the pair of session and status is another one than was sent last. That is forgotten when the
/// session ends while others are there, and when its file says nothing for a moment then.
struct StatusUploads: Codable, Sendable {
    private struct Upload: Codable {
        var status: String
        var at: Timestamp
    }

    private var sent: [EntityID: Upload] = [:]
    private var present: Set<EntityID> = []
    /// How many prompts were uploaded of each prompt file.
    private var promptCounts: [EntityID: Int] = [:]

    /// A record that was sent so long ago is not looked for any more, in seconds.
    private static let windowSeconds: Int64 = 1800
    /// How long a slow upload takes, in seconds.
    private static let saveSeconds: Int64 = 3

    /// A status was seen: what goes up, if anything.
    mutating func take(_ fields: SessionFields, in context: FoldContext) -> SessionFields? {
        if context.rules.isEmpty { return fields }
        present.insert(fields.id)
        // Each upload of the list forgets the sessions that are no longer in it.
        sent = sent.filter { present.contains($0.key) }
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

    /// Whether a status that comes after an upload of its session stays on the Mac.
    private mutating func isHeldBack(_ fields: SessionFields, by upload: Upload, in context: FoldContext) -> Bool {
        if context.rules.contains(.firstStatusStays) { return true }
        if context.rules.contains(.sameStatusIsNotUploaded), upload.status == fields.status { return true }
        let isSaving = context.event.recordedAt.seconds - upload.at.seconds < Self.saveSeconds
        guard isSaving, context.rules.contains(.changeDuringASaveIsLost) else { return false }
        sent[fields.id]?.status = fields.status
        return true
    }

    /// The id of the prompt that a prompt file's new text is.
    mutating func prompt(of file: EntityID, in context: inout FoldContext) -> EntityID {
        guard context.rules.contains(.everyPromptStays) else { return file }
        let count = (promptCounts[file] ?? 0) + 1
        promptCounts[file] = count
        return count == 1 ? file : context.names.id("\(context.names.text(file))#\(count)")
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
        let upload = sent[id]
        if !present.isEmpty || !context.rules.contains(.lastSessionIsRememberedAsSent) { sent[id] = nil }
        if context.rules.contains(.endsAreUploadedByTens), present.count % 10 != 0 { return false }
        guard context.rules.contains(.lateEndIsNotUploaded), let upload else { return true }
        return context.event.recordedAt.seconds - upload.at.seconds < Self.windowSeconds
    }
}
