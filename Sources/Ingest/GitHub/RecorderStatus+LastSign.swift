public import EventLog

extension RecorderStatus {
    /// The last instant at which a recorder is known to have listened, by its bookmark; `nil` if that does not say it.
    public static func lastSign(of source: SourceName, in session: borrowing ReadSession) throws -> Timestamp? {
        #if Recorders
        guard let bytes = try session.bookmark(of: source) else { return nil }
        if let bookmark = JournalBookmark(bytes: bytes) {
            return [bookmark.lastInbound, bookmark.alive].compactMap { $0 }.max()
        }
        return GitHubBookmark(bytes)?.alive
        #else
        return nil
        #endif
    }
}
