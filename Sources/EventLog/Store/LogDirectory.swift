/// The places in a log's directory.
struct LogDirectory: Hashable, Sendable {
    let path: String

    var formatFile: String { "\(path)/\(LogFormat.fileName)" }
    var writeLock: String { "\(path)/write.lock" }
    var rewriteLock: String { "\(path)/rewrite.lock" }
    var sources: String { "\(path)/sources" }

    func generation(_ number: UInt32) -> String {
        "\(path)/gen-\(Self.padded(number))"
    }

    /// Where a generation goes before its files are removed, so that nobody opens what is half gone.
    func discarded(_ number: UInt32) -> String {
        "\(path)/gone-\(Self.padded(number))"
    }

    /// The numbers of the generations that lie there, ascending.
    func generations() throws -> [UInt32] {
        try Directory.names(in: path).compactMap { name in
            guard name.hasPrefix("gen-"), name.utf8.count == 10 else { return nil }
            return UInt32(name.dropFirst(4))
        }
    }

    /// Whether what lies there was made by the birth of a log, finished or not, and nothing else is there.
    func isEmptyOrLog() throws -> Bool {
        try Directory.names(in: path).allSatisfy { name in
            ["write.lock", "rewrite.lock", "sources", LogFormat.fileName, LogFormat.fileName + ".new"].contains(name)
                || ["gen-", "gone-", "birth-", "cache-"].contains { name.hasPrefix($0) }
        }
    }

    static func padded(_ number: UInt32) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
    }
}
