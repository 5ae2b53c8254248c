/// Where a recorder's token comes from: an environment variable or a file, never the command line.
///
/// Read anew before each use, so that another program may renew it; never kept in a log, an error or a message.
public struct LiveToken: Sendable {
    let source: TokenSource
    /// The file that it is read from; `nil` for a variable.
    let file: String?

    /// The value of an environment variable.
    public static func environment(_ name: String) -> LiveToken {
        LiveToken(source: .environment(name), file: nil)
    }

    /// The first line of a file.
    public static func file(_ path: String) -> LiveToken {
        LiveToken(source: .file(path), file: path)
    }

    /// The token as it is now.
    ///
    /// - Throws: `IngestError` where there is none.
    func fresh() async throws -> String {
        try await source.fresh()
    }
}
