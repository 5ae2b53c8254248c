/// A log's directory, held open, and the names in it (`docs/format.md`).
struct LogDirectory: Sendable {
    let folder: Folder

    /// The directory's path, for messages.
    var path: String { folder.path }

    static let writeLock = "write.lock"
    static let rewriteLock = "rewrite.lock"
    static let sources = "sources"

    /// The entries without a number in their names.
    private static let names = [writeLock, rewriteLock, sources, LogFormat.fileName, LogFormat.fileName + ".new"]

    /// How many levels of folders a log's directory contains: the depth at which `Folder.removeFolder` removes a whole
    /// log.
    static let depth = 1

    init(_ folder: Folder) {
        self.folder = folder
    }

    /// The log's directory at a path; `nil` if there is no directory.
    init?(existingAt path: String) throws {
        guard let folder = try Folder.existing(at: path) else { return nil }
        self.folder = folder
    }

    static func generationName(_ number: UInt32) -> String { "gen-\(padded(number))" }

    /// The folder of what is derived from a generation.
    static func cacheName(_ number: UInt32) -> String { "cache-\(padded(number))" }

    /// The name that a generation gets before its files are removed, so that nobody opens it half removed.
    static func discardedName(_ number: UInt32) -> String { "gone-\(padded(number))" }

    /// A generation's folder; `nil` if there is none.
    func generation(_ number: UInt32) throws -> Folder? {
        try folder.folder(Self.generationName(number))
    }

    /// The numbers of the generations in the directory, ascending. Numbers in names have six digits; other names do not
    /// count.
    func generations() throws -> [UInt32] {
        try folder.names().compactMap { name in
            guard name.hasPrefix("gen-"), name.utf8.count == 10 else { return nil }
            return UInt32(name.dropFirst(4))
        }
    }

    /// Whether the directory is empty or holds only entries with a log's names, as its birth makes them, finished or
    /// not.
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
