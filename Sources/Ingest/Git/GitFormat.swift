/// What a repository's configuration says about how its objects and branches are stored. Nothing else in it is read.
struct GitFormat: Equatable {
    private static let configurationBytesMax = 16 << 20
    /// Extensions that change nothing about reading objects and branches, or are handled here.
    private static let known: Set<String> = [
        "noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "objectformat", "compatobjectformat",
        "refstorage", "relativeworktrees", "submodulepathconfig",
    ]

    /// Whether ids are SHA-256.
    var hasLongIDs = false
    /// Whether branches are stored as a reftable.
    var hasReftable = false

    /// Lets git take the file apart: it is told to read that file only, with no other file included.
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
        // 1: there is no such key.
        guard status == 0 || status == 1 else {
            throw IngestError.brokenRepository(program.repository, "its configuration cannot be read")
        }
        return try GitFormat(entries: output, repository: program.repository)
    }

    /// SHA-1 ids, and branches in files.
    static let plain = GitFormat()

    private init() {}

    /// Reads entries `KEY`, line feed, `VALUE`, each with a zero byte behind it; of a repeated key the last one counts.
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

    /// The format with one more setting; `nil` where it is not known.
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
