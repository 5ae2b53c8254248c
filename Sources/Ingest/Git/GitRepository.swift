import JSON

/// Reads a git repository: the tips of branches, and the commits behind them.
///
/// Each question starts a `git` and blocks until it answers. A branch may move between two questions, so callers fix
/// the tip once and ask about that id.
struct GitRepository: Sendable {
    let program: GitProgram

    /// The commits whose parents the repository does not have, by its own list (a shallow clone).
    let shallowCommits: Set<String>

    /// Opens the repository at a directory: a work tree's top, a `.git` directory or a bare repository.
    ///
    /// Copies HEAD and the list of shallow commits, so a repository that changes afterwards is opened again.
    ///
    /// - Throws: `IngestError` with code `gitMissing`, `notARepository`, `leadsOutside`, `brokenRepository` or `io`.
    init(
        at path: String,
        environment: [String: String],
        allowsAlternates: Bool = false,
        children: GitChildren = GitChildren()
    ) throws {
        program = try GitProgram(repository: path, environment: environment, children: children)
        let layout = try GitLayout(at: path, allowsAlternates: allowsAlternates)
        let format = try GitFormat.read(layout, with: program)
        // A linked work tree has its own reftable for HEAD beside the shared one; the closed directory has room for
        // one.
        if format.hasReftable, layout.isLinkedWorkTree {
            throw IngestError.notARepository(path, "a linked work tree of a repository with a reftable is not read")
        }
        shallowCommits = try ClosedGitDirectory.shallowCommits(layout, of: path)
        try program.directory.show(layout, format, shallow: shallowCommits, of: path)
        guard try program.answer(["rev-parse", "--git-dir"]) != nil else {
            let isNew = "this git cannot read the repository's format; it may need a newer git"
            throw IngestError.notARepository(path, format.hasReftable || format.hasLongIDs ? isNew : "its HEAD is none")
        }
    }

    /// The commit at the tip of a branch; for `nil`, of the branch or commit that is checked out.
    ///
    /// A name is tried as a local branch, then as a branch of `origin`, then below `refs/remotes`. A name that begins
    /// with `refs/` is used as it is. No name is read as a revision expression or an option.
    ///
    /// - Throws: `IngestError` with code `noSuchBranch`.
    func tip(ofBranch branch: String?) throws -> String {
        guard let branch else { return try currentTip() }
        let names =
            branch.hasPrefix("refs/")
            ? [branch] : ["refs/heads/\(branch)", "refs/remotes/origin/\(branch)", "refs/remotes/\(branch)"]
        for name in names {
            // `show-ref --verify` takes full names only, where `rev-parse` would take expressions such as `main~3`.
            guard let id = try program.answer(["show-ref", "--verify", "--hash", "--", name]) else { continue }
            if let commit = try commit(id) { return commit }
        }
        // The advice names at most eight branches.
        let branches = try branchNames()
        throw noSuchBranch(
            "there is no branch \"\(branch)\"",
            advice: branches.isEmpty ? "" : "use --branch with one of: \(branches.joined(separator: ", "))"
        )
    }

    /// True if the repository has the commit. Texts that are no full id are never given to git.
    func hasCommit(_ id: String) throws -> Bool {
        try Self.isObjectID(id) && commit(id) != nil
    }

    /// True if `id` is `tip` or an ancestor of it.
    func isAncestor(_ id: String, of tip: String) throws -> Bool {
        try program.answer(["merge-base", "--is-ancestor", id, tip]) != nil
    }

    /// Lists the commits reachable from a tip, parents first, one line each: the commit and then its parents.
    ///
    /// - Parameter old: a commit that the repository has; it and its ancestors are left out.
    func listCommits(to tip: String, excluding old: String?) throws -> GitProcess {
        let excluded = old.map { ["--not", $0] } ?? []
        return try program.start(["rev-list", "--topo-order", "--reverse", "--parents", tip] + excluded + ["--"])
    }

    /// Compares trees: each input line `COMMIT [PARENT]` gives the differences, from the empty tree if there is no
    /// parent. A line `.` is printed back and flushes the output: git takes a line that is no id as it is.
    func startDiffs() throws -> GitProcess {
        try program.start(["diff-tree", "--stdin", "--always", "--root"] + Self.diffOptions, takesInput: true)
    }

    /// Compares the trees of two commits; if `old` is `nil`, the empty tree with that of `tip`.
    func diff(from old: String?, to tip: String) throws -> GitProcess {
        let emptyTree = try old == nil ? program.answer(["hash-object", "-t", "tree", "/dev/null"]) : nil
        let trees = [old.map { "\($0)^{tree}" } ?? emptyTree ?? "", "\(tip)^{tree}"]
        return try program.start(["diff-tree"] + Self.diffOptions + trees + ["--"])
    }

    /// Full paths and ids, ended by zero bytes, and neither renames nor settings that could change the answer: one
    /// commit must give the same document everywhere (I4).
    private static let diffOptions = [
        "-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative",
        "--ignore-submodules=none",
    ]

    /// Reads objects: each input line `ID` gives a header `ID TYPE SIZE`, the bytes and a line feed, or `ID missing`.
    func startObjects() throws -> GitProcess {
        try program.start(["cat-file", "--batch"], takesInput: true)
    }

    /// The error for a broken repository.
    func broken(_ reason: String, advice: String? = nil) -> IngestError {
        .brokenRepository(program.repository, reason, advice: advice)
    }

    /// True if a text is an object's full id: 40 hex digits (SHA-1) or 64 (SHA-256). Such a text is safe as an argument
    /// of git: it is no option, path or expression.
    static func isObjectID(_ text: String) -> Bool {
        (text.utf8.count == 40 || text.utf8.count == 64) && text.utf8.allSatisfy { JSONText.hexDigit($0) != nil }
    }

    /// The commit that HEAD leads to; HEAD may be detached.
    private func currentTip() throws -> String {
        if let id = try program.answer(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) { return id }
        let branch = try program.answer(["symbolic-ref", "--quiet", "--short", "HEAD"]) ?? "HEAD"
        let branches = try branchNames()
        throw noSuchBranch(
            "the current branch \"\(branch)\" has no commit",
            advice: branches.isEmpty ? "" : "use --branch with one of: \(branches.joined(separator: ", "))"
        )
    }

    /// The id of the commit that an object is or, as an annotated tag, leads to; `nil` if there is none.
    private func commit(_ id: String) throws -> String? {
        try program.answer(["rev-parse", "--verify", "--quiet", "\(id)^{commit}"])
    }

    private func branchNames() throws -> [String] {
        let list = try program.answer(["for-each-ref", "--count=8", "--format=%(refname:short)", "refs/heads"])
        return (list ?? "").split(separator: "\n").map(String.init)
    }

    private func noSuchBranch(_ reason: String, advice: String) -> IngestError {
        IngestError(
            .noSuchBranch,
            operation: "ingest git",
            object: program.repository,
            reason: reason,
            advice: advice
        )
    }
}
