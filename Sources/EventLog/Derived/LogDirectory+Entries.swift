extension LogDirectory {
    /// Checks every entry that has one of a log's names, so that no later step of an open log meets one that is not a
    /// file or folder of its own (I22). Each entry is checked again when it is opened.
    ///
    /// - Throws: `EventLogError` with code `damaged`, naming the entry.
    func checkEntries() throws {
        for name in try folder.names() {
            switch name {
            case LogFormat.fileName: try check(name, in: folder, isWritten: false)
            case LogFormat.fileName + ".new", Self.writeLock, Self.rewriteLock:
                try check(name, in: folder, isWritten: true)
            case Self.sources: try folder.folder(name).map { try checkLocks($0) }
            case _ where name.hasPrefix("gen-"): try folder.folder(name)?.checkEnvironment()
            case _ where name.hasPrefix("cache-"): try checkCache(name)
            // Opening the folder is the check: what it contains is checked when it is removed.
            case _ where name.hasPrefix("gone-") || name.hasPrefix("birth-"): _ = try folder.folder(name)
            default: break
            }
        }
    }

    private func checkLocks(_ sources: Folder) throws {
        for name in try sources.names() where name.hasSuffix(".lock") { try check(name, in: sources, isWritten: true) }
    }

    /// A plain file in place of the folder does no harm: nothing is derived then, and no append fails (I17).
    private func checkCache(_ name: String) throws {
        guard try folder.kind(of: name) != .file, let cache = try folder.folder(name) else { return }
        try cache.checkEnvironment()
        for name in DerivedStore.fileNames { try check(name, in: cache, isWritten: true) }
        try check(FolderStamp.fileName, in: cache, isWritten: false)
    }

    /// Checks one entry as a file; a missing one passes.
    private func check(_ name: String, in folder: Folder, isWritten: Bool) throws {
        guard let information = try folder.status(of: name) else { return }
        try folder.check(information, name, isWritten: isWritten)
    }
}
