/// The differences between two trees; `folders` are changes in the number of files.
struct GitSpan: Sendable {
    private(set) var files: [MessageKey: GitHistory.Difference<GitHistory.File>] = [:]
    private(set) var graves: [MessageKey: GitHistory.Difference<GitHistory.Grave>] = [:]
    private(set) var folders: [EntityID: Int] = [:]

    /// Extends the span forward by a difference.
    mutating func add(_ difference: GitHistory.Difference<GitHistory.File>, at key: MessageKey) {
        files[key, default: .init(before: difference.before)].after = difference.after
    }

    mutating func add(_ difference: GitHistory.Difference<GitHistory.Grave>, at key: MessageKey) {
        graves[key, default: .init(before: difference.before)].after = difference.after
    }

    /// Extends the span backward by a difference.
    mutating func takeBack(_ difference: GitHistory.Difference<GitHistory.File>, at key: MessageKey) {
        files[key, default: .init(before: difference.after)].after = difference.before
    }

    mutating func takeBack(_ difference: GitHistory.Difference<GitHistory.Grave>, at key: MessageKey) {
        graves[key, default: .init(before: difference.after)].after = difference.before
    }

    /// Counts files that a folder has more at the span's end.
    mutating func count(_ files: Int, in folder: EntityID) { folders[folder, default: 0] += files }
}
