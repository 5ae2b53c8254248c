import EventLog

extension GitCommitDecoder {
    /// Adds the last commit, which decides the state, and the rewrites, which no commit records. Facts replace all
    /// other commits; `Messages` adds those whose texts it still shows.
    func collectNeeded(into sequences: inout SequenceSet) {
        sequences.formUnion(rewrites)
        if let tip = history.tip { sequences.insert(history.sequence(at: tip)) }
    }

    /// All trees, as their differences, one value a commit in log order; then the tip, the graves beside the trees, the
    /// rewrites and the spellings.
    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for index in 0..<history.count { take(GitFact.commit(index, of: history, names)) }
        let keys = orphans.keys.sorted { $0.precedes($1, names) }
        take(
            .object([
                "tip": .text(history.tip.map { history.commit(at: $0) }),
                "orphans": .array(keys.map { GitFact.entry($0, [GitFact.grave(orphans[$0], history.blobs)], names) }),
                "rewrites": .array(rewrites.map { .string(String($0)) }),
                "spellings": spellings.facts,
            ])
        )
    }

    /// The trees of the dropped commits, in log order: any of them may be the parent of a later commit. Kept commits
    /// give their own trees when they are replayed.
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue {
        let dropped = (0..<history.count).filter { !kept.contains(history.sequence(at: $0)) }
        let commits = dropped.map { GitFact.commit($0, of: history, names) }
        return .object(["commits": .array(commits), "spellings": spellings.facts])
    }

    /// Expects the dropped commits. They are not added at once: a replay up to an early event must not know later ones.
    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        guard let commits = facts["commits"]?.array else { throw ProjectionError.facts("git has no `commits`") }
        var awaited: [GitHistory.Awaited] = []
        for fact in commits {
            guard let commit = GitFact.awaited(fact, &names, &history.blobs) else {
                throw ProjectionError.facts("a git commit has another form")
            }
            awaited.append(commit)
        }
        history.expect(awaited)
        spellings = try GitSpellings(facts: facts["spellings"])
    }
}
