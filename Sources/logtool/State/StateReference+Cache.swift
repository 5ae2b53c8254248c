import CacheTables

extension StateReference {
    /// Whether the reference names an existing file with a suffix of a database, and no log. The suffixes are those
    /// that SQLite's tools, Core Data and SwiftData give their files.
    var isCache: Bool {
        guard let path = plainPath, [".sqlite", ".sqlite3", ".db", ".store"].contains(where: { path.hasSuffix($0) })
        else { return false }
        return CacheFile.exists(at: path)
    }
}
