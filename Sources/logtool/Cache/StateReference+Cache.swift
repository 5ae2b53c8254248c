extension StateReference {
    /// Whether it names a file as databases are called, and no log.
    var isCache: Bool {
        guard let path = plainPath, [".sqlite", ".sqlite3", ".db", ".store"].contains(where: { path.hasSuffix($0) })
        else { return false }
        return ((try? CacheFile(path: path).occupant()) ?? .nothing) != .nothing
    }
}
