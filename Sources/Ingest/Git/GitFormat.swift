/// The storage format of a repository's objects and branches, from its configuration. Nothing else there is used (I28).
struct GitFormat: Equatable {
    /// The largest configuration, in bytes, that is given to git to take apart.
    private static let configurationBytesMax = 16 << 20
    /// Extensions that do not change how objects and branches are read, or that are handled here. In lower case.
    private static let known: Set<String> = [
        "noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "objectformat", "compatobjectformat",
        "refstorage", "relativeworktrees", "submodulepathconfig",
    ]

    /// True if ids are SHA-256, false if SHA-1.
    var hasLongIDs = false
    /// True if branches are stored as a reftable.
    var hasReftable = false

    /// Reads the repository's configuration; without one, the format is `plain`. git parses the file, but reads no
    /// other and follows no `include`.
    ///
    /// - Throws: `IngestError` with code `brokenRepository` if the file cannot be read or names an unknown version or
    ///   extension.
    static func read(_ layout: GitLayout, with program: GitProgram) throws -> GitFormat {
        let name = "config"
        guard let path = GitFile.resolved("\(layout.common)/\(name)") else { return plain }
        guard layout.bytes(name, in: layout.common, sizeMax: configurationBytesMax) != nil else {
            throw IngestError.brokenRepository(program.repository, "its configuration cannot be read")
        }
        let keys = "^(core\\.repositoryformatversion|extensions\\..*)$"
        let process = try program.start([
            "config", "--file", path, "--no-includes", "--null", "--get-regexp", keys,
        ])
        let output = try process.output.readToEnd(limit: 1 << 20)
        let status = process.finish().status
        // Status 1: the file has no such key.
        guard status == 0 || status == 1 else {
            throw IngestError.brokenRepository(program.repository, "its configuration cannot be read")
        }
        return try GitFormat(entries: output, repository: program.repository)
    }

    /// SHA-1 ids, and branches in files.
    static let plain = GitFormat()

    private init() {}

    /// Reads the output of `git config --null`: entries of a key in lower case, a line feed and a value, each ended by
    /// a zero byte. The last entry of a key counts. An entry without a line feed means `true`, as a key without `=`
    /// does in the file.
    init(entries: [UInt8], repository: String) throws(IngestError) {
        for entry in entries.split(separator: 0) {
            let parts = entry.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : "true"
            let key = String(decoding: parts[0], as: UTF8.self)
            guard let known = try take(key, value) else {
                throw .brokenRepository(repository, "its format has an extension or version that is not known")
            }
            self = known
        }
    }

    /// The format with one more setting; `nil` if the setting is unknown. A version or extension that nobody knows here
    /// may change what objects mean, so it refuses the repository.
    private func take(_ key: String, _ value: String) throws(IngestError) -> GitFormat? {
        var format = self
        switch (key, value) {
        case ("core.repositoryformatversion", "0"), ("core.repositoryformatversion", "1"): break
        case ("extensions.objectformat", "sha1"): format.hasLongIDs = false
        case ("extensions.objectformat", "sha256"): format.hasLongIDs = true
        case ("extensions.refstorage", "files"): format.hasReftable = false
        case ("extensions.refstorage", "reftable"): format.hasReftable = true
        case ("core.repositoryformatversion", _), ("extensions.objectformat", _), ("extensions.refstorage", _):
            return nil
        default:
            guard Self.known.contains(String(key.drop { $0 != "." }.dropFirst())) else { return nil }
        }
        return format
    }
}
