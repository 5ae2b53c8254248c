import EventLog

extension GitCommitDecoder {
    /// Reads a rewrite: the branch was set to a commit that does not descend from its tip.
    ///
    /// This event deletes the messages of the old tip that the new tip does not know, and restores versions that were
    /// told before the branch came to the old tip. The commits since then told everything else.
    ///
    /// The log's last commit is usually the new tip, because a recorder appends the new commits before the rewrite. So
    /// the spans are computed from the tip that is checked out, and from the old tip that the document names.
    mutating func decode(_ document: GitRewriteDocument, context: inout FoldContext) -> [Change] {
        let sequence = context.event.sequence.rawValue
        // A branch that was rewritten before came to its tip by that rewrite, whenever the tip's commit was recorded.
        let before = rewrites.last ?? 0
        rewrites.append(sequence)
        read(document.files, of: document.changes, context: &context)
        let old = history.index(of: document.from) ?? (isPart ? history.tip : nil)
        if old == nil { context.issue("the log has no commit \(document.from), which was the branch's tip") }
        guard let new = history.index(of: document.to) else {
            return decodeUnknownTip(document, from: old, context: &context)
        }
        var scene = GitScene(context, document.files, author: nil, time: nil)
        // Both spans are noted before the tree is left; the statuses in it are those that the state shows.
        scene.note(history.span(from: history.tip, to: new), of: self)
        let lost = history.span(from: old ?? new, to: new)
        scene.note(lost, of: self)
        history.checkOut(new)
        let told = max(before, old.map { history.sequence(at: $0) } ?? 0)
        let step = rewriteStep(lost, toldBy: told, scene, context.names)
        scene.restore(step, decoder: self)
        adopt(lost, toldBy: told, scene)
        scene.tell(step, decoder: self, names: context.names)
        scene.settle(step, decoder: self, names: context.names)
        return scene.changes
    }

    /// Reads a new tip that the log lacks from the difference between the two trees, as if it were a commit on the old
    /// tip.
    private mutating func decodeUnknownTip(
        _ document: GitRewriteDocument,
        from old: Int?,
        context: inout FoldContext
    ) -> [Change] {
        context.issue("the log has no commit \(document.to), which is the branch's tip now")
        let parent = GitKnownParent(index: old, parent: GitParent(commit: document.from, changes: document.changes))
        var scene = GitScene(context, document.files, author: nil, time: nil)
        scene.note(history.span(from: history.tip, to: old), of: self)
        history.checkOut(old)
        let step = GitStep(of: document.to, parents: [parent], decoder: self, scene: scene, names: &context.names)
        return finish(step, scene, context: &context)
    }

    /// The rewrite's own deeds, in the order of their keys. The new tip must be checked out.
    ///
    /// - Parameters:
    ///   - lost: the differences from the old tip to the new one.
    ///   - told: the sequence of the event by which the branch came to the old tip; 0 if the log lacks it.
    private func rewriteStep(_ lost: GitSpan, toldBy told: UInt64, _ scene: GitScene, _ names: Names) -> GitStep {
        // A rewrite makes no commit: the node stays empty and is never added.
        var step = GitStep(node: GitHistory.Node(commit: "", sequence: 0, basis: nil))
        for (key, difference) in lost.files.sorted(by: { $0.key.precedes($1.key, names) }) {
            guard difference.before != difference.after else { continue }
            if let after = difference.after {
                // A later version was told by its own commit.
                guard after.since <= told, after.blob != difference.before?.blob else { continue }
                if after.isMessage {
                    step.deeds.append(.wrote(key, blob: after.blob, previous: difference.before?.usable))
                } else if difference.before?.isMessage == true {
                    step.deeds.append(.spoiled(key))
                } else {
                    continue
                }
            } else {
                // A later grave was dug by a commit of the new branch.
                guard difference.before?.usable != nil, (history.grave(at: key)?.since.sequence.rawValue ?? 0) <= told
                else { continue }
                step.deeds.append(.removed(key))
            }
            step.origins[key] = status(key, file: difference.before, grave: lost.graves[key]?.before)
        }
        for (folder, count) in lost.folders.sorted(by: { names.precedes($0.key, $1.key) }) where count < 0 {
            if history.folders[folder] == nil { step.removedFolders.append(folder) }
        }
        return step
    }

    /// Keeps the graves that the new tip does not know: of messages that the rewrite deleted, or the old branch before.
    /// The new tip must be checked out.
    private mutating func adopt(_ lost: GitSpan, toldBy told: UInt64, _ scene: GitScene) {
        for (key, difference) in lost.files where history.file(at: key)?.usable == nil {
            guard (history.grave(at: key)?.since.sequence.rawValue ?? 0) <= told else { continue }
            if let usable = difference.before?.usable { orphans[key] = scene.grave(of: usable) }
        }
        for (key, difference) in lost.graves where history.file(at: key)?.usable == nil && history.grave(at: key) == nil
        {
            guard let grave = difference.before, !grave.isMoved else { continue }
            // A rewrite may have deleted the message again since.
            if grave.since.sequence >= orphans[key]?.since.sequence ?? .zero { orphans[key] = grave }
        }
    }
}
