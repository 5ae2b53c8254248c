/// Where the parts of a repository lie: found without git, since git would believe the repository's configuration.
///
/// Every part is a plain file or folder inside the folder that was named. A part that leads outside would let whoever
/// owns the repository show what another one holds; such parts are refused unless the caller allows them.
struct GitLayout {
    /// The folder that holds `HEAD`.
    let head: String
    /// The folder that holds `config`, `refs` and `objects`: another one in a linked work tree.
    let common: String
    /// Folders of objects: the repository's own, then its alternates.
    let stores: [String]

    /// Whether branches are those of another repository and `HEAD` is not.
    var isLinkedWorkTree: Bool { head != common }

    /// Finds the parts of the repository at a folder: a work tree's top, a `.git` folder or a bare repository.
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

    /// A file in the folder of `HEAD` or in the common one; `nil` where there is none.
    func bytes(_ name: String, in folder: String, sizeMax: Int) -> [UInt8]? {
        GitFile.resolved("\(folder)/\(name)").flatMap { GitFile.bytes($0, sizeMax: sizeMax) }
    }
}

/// Goes through a repository's folders and holds each part to what it must be.
private struct GitWalk {
    /// The longest text that names another folder or alternates.
    private static let pointerBytesMax = 64 << 10
    /// How far alternates may lead to alternates, as in git.
    private static let alternatesDepthMax = 5
    private static let foldersDepthMax = 32

    let repository: String
    /// The repository's folder, links resolved.
    let root: String
    let allowsAlternates: Bool

    func gitFolder() throws(IngestError) -> String {
        let inner = "\(root)/.git"
        let isLink = GitFile.kind(inner) == .link
        let folder = isLink ? try inside(inner, "its .git") ?? root : inner
        if GitFile.kind(folder) == .file { return try checked(try folderNamed(by: folder, in: root)) }
        return isGitFolder(folder) ? folder : try checked(root)
    }

    func commonFolder(of head: String) throws(IngestError) -> String {
        let pointer = "\(head)/commondir"
        guard GitFile.kind(pointer) != .none else { return head }
        guard let target = text(of: pointer), let folder = try inside(absolute(target, in: head), "its commondir file")
        else { throw .notARepository(repository, "its commondir file names no folder") }
        return folder
    }

    /// Holds `HEAD`, the configuration, branches and objects to be plain files and folders.
    func checkParts(of folder: String) throws(IngestError) {
        for name in ["HEAD", "config", "packed-refs", "shallow"] {
            try check("\(folder)/\(name)", is: .file, name)
        }
        for name in ["refs", "reftable"] {
            guard let part = try check("\(folder)/\(name)", is: .folder, name) else { continue }
            try checkFiles(in: part, depth: 0)
        }
    }

    /// The folders of objects, alternates behind what they belong to.
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

    private func checkStore(_ store: String) throws(IngestError) {
        for name in GitStore.folders {
            guard let folder = try check("\(store)/\(name)", is: .folder, "objects/\(name)") else { continue }
            for entry in GitFile.names(in: folder) ?? [] {
                let path = "\(folder)/\(entry)"
                // Folders within hold no objects.
                if ![.file, .folder].contains(GitFile.kind(path)) { try check(path, is: .file, "an object's file") }
            }
        }
    }

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

    /// The path of a part, links resolved; `nil` where it is absent.
    @discardableResult
    private func check(_ path: String, is kind: GitFile.Kind, _ what: String) throws(IngestError) -> String? {
        let found = GitFile.kind(path)
        if found == .none || found == kind { return found == kind ? path : nil }
        guard found == .link else { throw broken("\(what) is not a plain file or folder") }
        guard let target = try inside(path, what) else { return nil }
        guard GitFile.kind(target) == kind else { throw broken("\(what) is not a plain file or folder") }
        return target
    }

    /// Where a path leads; `nil` where nothing lies there.
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

    private func folderNamed(by file: String, in folder: String) throws(IngestError) -> String {
        let prefix = "gitdir: "
        guard let text = text(of: file), text.hasPrefix(prefix),
            let target = try inside(absolute(String(text.dropFirst(prefix.count)), in: folder), "its .git file")
        else { throw .notARepository(repository, "its .git file names no folder") }
        return target
    }

    private func text(of path: String) -> String? {
        GitFile.resolved(path).flatMap { GitFile.bytes($0, sizeMax: Self.pointerBytesMax) }.map { bytes in
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

    private func isGitFolder(_ folder: String) -> Bool {
        func holds(_ name: String) -> Bool { GitFile.kind("\(folder)/\(name)") != .none }
        return holds("HEAD") && (holds("commondir") || (holds("objects") && holds("refs")))
    }

    private func broken(_ reason: String) -> IngestError {
        .brokenRepository(repository, reason)
    }
}

/// The parts of a folder of objects that hold objects.
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

    /// What is wrong with the repository itself; `reason` holds nothing of its files but ids of objects.
    static func brokenRepository(_ path: String, _ reason: String) -> IngestError {
        IngestError(
            .brokenRepository,
            operation: "ingest git",
            object: path,
            reason: reason,
            advice: "see: git -C REPO fsck; in a partial clone fetch the missing objects first"
        )
    }
}
