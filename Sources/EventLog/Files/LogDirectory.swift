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
