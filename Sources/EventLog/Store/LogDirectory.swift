/// A log's directory, held open, and the names in it.
struct LogDirectory: Sendable {
    let folder: Folder

    /// The directory's path, for messages.
    var path: String { folder.path }

    static let writeLock = "write.lock"
    static let rewriteLock = "rewrite.lock"
    static let sources = "sources"

    private static let names = [writeLock, rewriteLock, sources, LogFormat.fileName, LogFormat.fileName + ".new"]

    /// How many folders lie within one another in a log's directory.
    static let depth = 1

    init(_ folder: Folder) {
        self.folder = folder
    }

    /// The log at a path; `nil` where no directory is.
    init?(existingAt path: String) throws {
        guard let folder = try Folder.existing(at: path) else { return nil }
        self.folder = folder
    }

    static func generationName(_ number: UInt32) -> String { "gen-\(padded(number))" }

    /// Where what is derived from a generation lies.
    static func cacheName(_ number: UInt32) -> String { "cache-\(padded(number))" }

    /// Where a generation goes before its files are removed, so that nobody opens what is half gone.
    static func discardedName(_ number: UInt32) -> String { "gone-\(padded(number))" }

    /// A generation's folder; `nil` where there is none.
    func generation(_ number: UInt32) throws -> Folder? {
        try folder.folder(Self.generationName(number))
    }

    /// The numbers of the generations that lie there, ascending.
    func generations() throws -> [UInt32] {
        try folder.names().compactMap { name in
            guard name.hasPrefix("gen-"), name.utf8.count == 10 else { return nil }
            return UInt32(name.dropFirst(4))
        }
    }

    /// Whether what lies there was made by the birth of a log, finished or not, and nothing else is there.
    func isEmptyOrLog() throws -> Bool {
        try folder.names().allSatisfy { name in
            Self.names.contains(name) || ["gen-", "gone-", "birth-", "cache-"].contains { name.hasPrefix($0) }
        }
    }

    static func padded(_ number: UInt32) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
    }
}

// MARK: - What may lie there

extension LogDirectory {
    /// Looks at everything that a log has names for, so that whoever opens a log meets nothing later that is no file or
    /// folder of its own (I22). Each is looked at again when it is opened.
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
            case _ where name.hasPrefix("gone-") || name.hasPrefix("birth-"): _ = try folder.folder(name)
            default: break
            }
        }
    }

    private func checkLocks(_ sources: Folder) throws {
        for name in try sources.names() where name.hasSuffix(".lock") { try check(name, in: sources, isWritten: true) }
    }

    /// A plain file in the place of the folder leads nowhere: nothing is derived then, and no append fails (I17).
    private func checkCache(_ name: String) throws {
        guard try folder.kind(of: name) != .file, let cache = try folder.folder(name) else { return }
        try cache.checkEnvironment()
        for name in DerivedStore.fileNames { try check(name, in: cache, isWritten: true) }
        try check(PlaceStamp.fileName, in: cache, isWritten: false)
    }

    private func check(_ name: String, in folder: Folder, isWritten: Bool) throws {
        guard let information = try folder.status(of: name) else { return }
        try folder.check(information, name, isWritten: isWritten)
    }
}
