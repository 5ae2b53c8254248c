import EventLog

/// The paths of a repository's parts, found without git, because git would trust the repository's configuration (I28).
///
/// Every part is a plain file or folder inside the given folder. A part that leads outside would let the repository's
/// owner expose files of others, so it is refused unless the caller allows it.
struct GitLayout {
    /// The folder that holds `HEAD`.
    let head: String
    /// The folder that holds `config`, `refs` and `objects`. It differs from `head` in a linked work tree.
    let common: String
    /// The folders of objects: the repository's own, then its alternates.
    let stores: [String]

    /// True if `HEAD` is the work tree's own but the branches are another repository's.
    var isLinkedWorkTree: Bool { head != common }

    /// Finds the parts of the repository at a folder: a work tree's top, a `.git` folder or a bare repository. Visits
    /// every loose branch and every file with objects, without opening the latter.
    ///
    /// - Throws: `IngestError` with code `notARepository`, `leadsOutside` or `brokenRepository`.
    init(at repository: String, allowsAlternates: Bool) throws(IngestError) {
        guard !repository.isEmpty, let root = GitFile.resolved(repository), GitFile.kind(root) == .folder else {
            throw .notARepository(repository, repository.isEmpty ? "the path is empty" : "there is no such folder")
        }
        let walk = GitWalk(repository: repository, root: root, allowsAlternates: allowsAlternates)
        head = try walk.gitFolder()
        common = try walk.commonFolder(of: head)
        for folder in Set([head, common]) { try walk.checkParts(of: folder) }
        stores = try walk.stores(from: "\(common)/objects")
    }

    /// The bytes of a file in `folder`, which is `head` or `common`; `nil` if it does not exist, is larger than
    /// `sizeMax` or cannot be read. Resolves links again, so a link that was replaced after the checks is followed.
    func bytes(_ name: String, in folder: String, sizeMax: Int) -> [UInt8]? {
        GitFile.resolved("\(folder)/\(name)").flatMap { InputFile.untrustedBytes(at: $0, bytesMax: sizeMax) }
    }
}

/// Walks through a repository's folders and checks that each part is of the right kind and inside.
private struct GitWalk {
    /// The largest file, in bytes, that names another folder or alternates.
    private static let pointerBytesMax = 64 << 10
    /// The most lists of alternates in a chain. A longer chain is refused; git itself reads one list more and ignores
    /// the rest.
    private static let alternatesDepthMax = 5
    /// The deepest nesting of folders of branches; bounds the recursion, for the repository decides how deep it goes.
    private static let foldersDepthMax = 32

    let repository: String
    /// The repository's folder, links resolved.
    let root: String
    /// True if parts may lie outside `root`. Their kinds are checked all the same.
    let allowsAlternates: Bool

    /// The folder that holds `HEAD`: `.git` itself, the folder that a `.git` file names (a linked work tree or a
    /// submodule), or the given folder if it is bare.
    func gitFolder() throws(IngestError) -> String {
        let inner = "\(root)/.git"
        let isLink = GitFile.kind(inner) == .link
        let folder = isLink ? try inside(inner, "its .git") ?? root : inner
        if GitFile.kind(folder) == .file { return try checked(try folderNamed(by: folder, in: root)) }
        return isGitFolder(folder) ? folder : try checked(root)
    }

    /// The folder that `commondir` names (gitrepository-layout), which linked work trees have; else `head`.
    func commonFolder(of head: String) throws(IngestError) -> String {
        let pointer = "\(head)/commondir"
        guard GitFile.kind(pointer) != .none else { return head }
        guard let target = text(of: pointer), let folder = try inside(absolute(target, in: head), "its commondir file")
        else { throw .notARepository(repository, "its commondir file names no folder") }
        return folder
    }

    /// Checks that `HEAD`, the configuration and the branches are plain files and folders.
    func checkParts(of folder: String) throws(IngestError) {
        for name in ["HEAD", "config", "packed-refs", "shallow"] {
            try check("\(folder)/\(name)", is: .file, name)
        }
        for name in ["refs", "reftable"] {
            guard let part = try check("\(folder)/\(name)", is: .folder, name) else { continue }
            try checkFiles(in: part, depth: 0)
        }
    }

    /// The folders of objects; each comes before its alternates.
    func stores(from folder: String) throws(IngestError) -> [String] {
        guard let own = try check(folder, is: .folder, "its folder of objects") else {
            throw .notARepository(repository, "it has no folder of objects")
        }
        var stores = [own]
        try addAlternates(of: own, to: &stores, depth: 0)
        for store in stores { try checkStore(store) }
        return stores
    }
}

extension GitWalk {
    /// Adds the stores that a store's `info/alternates` names, depth first, each once. Relative lines count from the
    /// store. Lines that begin with `#` are comments; a folder that does not exist is passed over, as git does.
    private func addAlternates(of store: String, to stores: inout [String], depth: Int) throws(IngestError) {
        guard let list = try check("\(store)/info/alternates", is: .file, "its list of alternates") else { return }
        guard depth < Self.alternatesDepthMax, let text = text(of: list) else {
            throw broken("its alternates are nested too deeply or cannot be read")
        }
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let folder = try inside(absolute(String(line), in: store), "an alternate"), !stores.contains(folder)
            else { continue }
            stores.append(folder)
            try addAlternates(of: folder, to: &stores, depth: depth + 1)
        }
    }

    /// Checks the folders of a store that git will see through links, so that no link in them leads outside.
    private func checkStore(_ store: String) throws(IngestError) {
        for name in GitStore.folders {
            guard let folder = try check("\(store)/\(name)", is: .folder, "objects/\(name)") else { continue }
            for entry in GitFile.names(in: folder) ?? [] {
                let path = "\(folder)/\(entry)"
                // git reads no objects from folders in here, so they are not checked further.
                if ![.file, .folder].contains(GitFile.kind(path)) { try check(path, is: .file, "an object's file") }
            }
        }
    }

    /// Checks that every entry below a folder of branches is a plain file, or a link to one inside.
    private func checkFiles(in folder: String, depth: Int) throws(IngestError) {
        guard depth < Self.foldersDepthMax else { throw broken("its folders of branches are nested too deeply") }
        for name in GitFile.names(in: folder) ?? [] {
            let path = "\(folder)/\(name)"
            if GitFile.kind(path) == .folder {
                try checkFiles(in: path, depth: depth + 1)
            } else {
                try check(path, is: .file, "a branch's file")
            }
        }
    }

    /// The path of a part, with links resolved; `nil` if it does not exist.
    @discardableResult
    private func check(_ path: String, is kind: GitFile.Kind, _ what: String) throws(IngestError) -> String? {
        let found = GitFile.kind(path)
        if found == .none || found == kind { return found == kind ? path : nil }
        guard found == .link else { throw broken("\(what) is not a plain file or folder") }
        guard let target = try inside(path, what) else { return nil }
        guard GitFile.kind(target) == kind else { throw broken("\(what) is not a plain file or folder") }
        return target
    }

    /// The path with links resolved; `nil` if nothing exists there.
    ///
    /// - Throws: `IngestError` with code `leadsOutside` if it lies outside `root` and alternates are not allowed.
    /// Every path that the repository names goes through here (I28). `realpath` has followed all links, so comparing
    /// prefixes is enough; the slash keeps `/a/bc` from counting as inside `/a/b`.
    private func inside(_ path: String, _ what: String) throws(IngestError) -> String? {
        guard let target = GitFile.resolved(path) else { return nil }
        let isInside = target == root || target.hasPrefix(root == "/" ? root : "\(root)/")
        guard isInside || allowsAlternates else {
            throw IngestError(
                .leadsOutside,
                operation: "ingest git",
                object: repository,
                reason: "\(what) leads outside the repository's folder",
                advice: "use --allow-alternates if you trust whoever owns it"
            )
        }
        return target
    }

    /// The folder that a `.git` file names by its only line, `gitdir: PATH`.
    private func folderNamed(by file: String, in folder: String) throws(IngestError) -> String {
        let prefix = "gitdir: "
        guard let text = text(of: file), text.hasPrefix(prefix),
            let target = try inside(absolute(String(text.dropFirst(prefix.count)), in: folder), "its .git file")
        else { throw .notARepository(repository, "its .git file names no folder") }
        return target
    }

    /// The text of a file that names a path, without line ends at its end; links are followed.
    private func text(of path: String) -> String? {
        GitFile.resolved(path).flatMap { InputFile.untrustedBytes(at: $0, bytesMax: Self.pointerBytesMax) }.map {
            bytes in
            let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
            return String(decoding: bytes[..<end], as: UTF8.self)
        }
    }

    private func absolute(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    private func checked(_ folder: String) throws(IngestError) -> String {
        guard isGitFolder(folder) else { throw .notARepository(repository, "there is no git repository") }
        return folder
    }

    /// True if the folder has what git itself looks for: `HEAD`, and either `commondir` or both `objects` and `refs`.
    private func isGitFolder(_ folder: String) -> Bool {
        func holds(_ name: String) -> Bool { GitFile.kind("\(folder)/\(name)") != .none }
        return holds("HEAD") && (holds("commondir") || (holds("objects") && holds("refs")))
    }

    private func broken(_ reason: String) -> IngestError {
        .brokenRepository(repository, reason)
    }
}

/// The folders in a folder of objects that contain objects.
enum GitStore {
    /// `pack`, and a folder for each first byte of an id.
    static let folders: [String] = ["pack"] + (0..<256).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
}

extension IngestError {
    static func notARepository(_ path: String, _ reason: String) -> IngestError {
        IngestError(
            .notARepository,
            operation: "ingest git",
            object: path,
            reason: reason,
            advice: "name the top directory of a work tree or a bare repository; clone a bundle or URL first"
        )
    }

    /// The error for a broken repository. `reason` must quote nothing of its files but ids of objects (I28).
    static func brokenRepository(_ path: String, _ reason: String, advice: String? = nil) -> IngestError {
        IngestError(
            .brokenRepository,
            operation: "ingest git",
            object: path,
            reason: reason,
            advice: advice
                ?? "see: git -C REPO fsck --full; in a partial clone first run: git -C REPO fetch --refetch --no-filter"
        )
    }
}
