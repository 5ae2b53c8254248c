#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A temporary git directory through which git sees a repository's objects and branches, and nothing else of it (I28).
///
/// It has none of the repository's configuration, hooks, attributes, grafts, replacements, commit graphs or alternates,
/// so nothing in them can start a program, reach a network or change what is read. Links lead to the folders with
/// objects and branches. The directory is removed with the last reference.
final class ClosedGitDirectory: Sendable {
    /// git's whole configuration, but for the format. The text continues the section `[core]`.
    private static let settings = """
        \tbare = true
        \tcommitGraph = false
        \tmultiPackIndex = false
        \tfsmonitor = false
        \tuntrackedCache = false
        \tuseReplaceRefs = false
        \tlogAllRefUpdates = false
        \tattributesFile = /dev/null
        \texcludesFile = /dev/null
        \thooksPath = /dev/null
        \tpager = cat
        \taskPass =
        [protocol]
        \tallow = never
        [credential]
        \thelper =
        [advice]
        \tgraftFileDeprecated = false
        [gc]
        \tauto = 0
        [maintenance]
        \tauto = false

        """
    /// About 1.6 million commits.
    private static let shallowBytesMax = 64 << 20

    /// The directory.
    let path: String

    /// Makes an empty repository in the folder for temporary files; only this user can read it. It has SHA-1 ids and a
    /// HEAD without a commit until `show`.
    ///
    /// - Throws: `IngestError` with code `io`.
    init(for repository: String) throws(IngestError) {
        guard let template = strdup("\(FileManager.default.temporaryDirectory.path)/eventlog-git-XXXXXX") else {
            throw Self.io(repository, "there is no memory left")
        }
        defer { free(template) }
        guard mkdtemp(template) != nil else { throw Self.io(repository, "no folder for temporary files can be made") }
        path = String(cString: template)
        for folder in ["objects", "objects/info"] { try makeFolder(folder, repository) }
        try write("ref: refs/heads/none\n", to: "HEAD", repository)
        try writeConfiguration(GitFormat.plain, repository)
    }

    deinit {
        // Removes links, but follows none.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Links the repository's objects and branches into this directory. `layout` has checked them; git follows the
    /// links without another check. Call it once.
    ///
    /// HEAD is copied, not linked, because git refuses a HEAD that is a symbolic link, unless the link's text begins
    /// with `refs/`.
    ///
    /// - Throws: `IngestError` with code `notARepository` if HEAD cannot be read, else `io`.
    func show(_ layout: GitLayout, _ format: GitFormat, shallow: Set<String>, of repository: String) throws(IngestError)
    {
        try writeConfiguration(format, repository)
        guard let head = layout.bytes("HEAD", in: layout.head, sizeMax: 64 << 10) else {
            throw .notARepository(repository, "its HEAD cannot be read")
        }
        try write(String(decoding: head, as: UTF8.self), to: "HEAD", repository)
        for name in ["refs", "packed-refs"] { try link("\(layout.common)/\(name)", name, repository) }
        if format.hasReftable { try link("\(layout.common)/reftable", "reftable", repository) }
        // Written from the parsed list, so git reads the same cuts that the documents are checked against.
        if !shallow.isEmpty {
            try write(shallow.sorted().map { "\($0)\n" }.joined(), to: "shallow", repository)
        }
        try showStores(layout.stores, repository)
    }

    /// The commits at which the repository's own list cuts its history off (a shallow clone), in lower case; empty if
    /// there is no list.
    ///
    /// - Throws: `IngestError` with code `brokenRepository` if the list is too large or has a line that is no id.
    static func shallowCommits(_ layout: GitLayout, of repository: String) throws(IngestError) -> Set<String> {
        let name = "shallow"
        guard GitFile.kind("\(layout.common)/\(name)") != .none else { return [] }
        let bytes = layout.bytes(name, in: layout.common, sizeMax: shallowBytesMax)
        let lines = bytes?.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self).lowercased() }
        guard let lines, lines.allSatisfy(GitRepository.isObjectID) else {
            throw .brokenRepository(repository, "its list of shallow commits cannot be read")
        }
        return Set(lines)
    }
}

extension ClosedGitDirectory {
    /// Makes a folder of objects for each store: the first is the repository's own, the others become alternates of
    /// this directory.
    private func showStores(_ stores: [String], _ repository: String) throws(IngestError) {
        var alternates = ""
        for (number, store) in stores.enumerated() {
            let folder = number == 0 ? "objects" : "alternate-\(number)"
            if number > 0 {
                try makeFolder(folder, repository)
                alternates += "\(path)/\(folder)\n"
            }
            // Leaves out the folder `info`, which names alternates and commit graphs. A link to a folder that does not
            // exist is harmless: git finds nothing there.
            for name in GitStore.folders { try link("\(store)/\(name)", "\(folder)/\(name)", repository) }
        }
        if !alternates.isEmpty { try write(alternates, to: "objects/info/alternates", repository) }
    }

    private func writeConfiguration(_ format: GitFormat, _ repository: String) throws(IngestError) {
        var text = "[core]\n\(Self.settings)"
        var extensions = ""
        if format.hasLongIDs { extensions += "\tobjectFormat = sha256\n" }
        if format.hasReftable { extensions += "\trefStorage = reftable\n" }
        if !extensions.isEmpty { text += "[extensions]\n\(extensions)" }
        // git reads extensions only in version 1.
        text += "[core]\n\trepositoryFormatVersion = \(extensions.isEmpty ? 0 : 1)\n"
        try write(text, to: "config", repository)
    }

    private func makeFolder(_ name: String, _ repository: String) throws(IngestError) {
        guard mkdir("\(path)/\(name)", 0o700) == 0 else {
            throw Self.io(repository, "a temporary folder cannot be made")
        }
    }

    private func link(_ target: String, _ name: String, _ repository: String) throws(IngestError) {
        guard symlink(target, "\(path)/\(name)") == 0 else {
            throw Self.io(repository, "a temporary link cannot be made")
        }
    }

    private func write(_ text: String, to name: String, _ repository: String) throws(IngestError) {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        } catch {
            throw Self.io(repository, "a temporary file cannot be written")
        }
    }

    private static func io(_ repository: String, _ reason: String) -> IngestError {
        IngestError(
            .io,
            operation: "ingest git",
            object: repository,
            reason: "\(reason) (\(String(cString: strerror(errno))))"
        )
    }
}
