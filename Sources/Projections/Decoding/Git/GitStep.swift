import EventLog

/// A parent of the current commit, and its index in the history; `nil` if the log lacks the parent or it is the empty
/// tree.
struct GitKnownParent {
    var index: Int?
    var parent: GitParent

    /// Whether the commit names this parent and the log lacks it. False for the empty tree that a root commit is
    /// compared with.
    var isUnknown: Bool { parent.commit != nil && index == nil }
}

extension [GitKnownParent] {
    /// The parent that the commit's differences start from: the first known one, else the first.
    var basis: GitKnownParent? { first { $0.index != nil } ?? first }
}

/// The effect of one commit: its tree's differences from its basis, and which of them are its own deeds.
///
/// A difference is no deed if another parent has the same content: that parent's line told it already.
struct GitStep {
    /// One change that the commit made to messages. `previous` is the last blob at the basis that was a message, if
    /// there is one.
    enum Deed {
        case wrote(MessageKey, blob: UInt32, previous: UInt32?)
        case removed(MessageKey)
        case moved(from: MessageKey, to: MessageKey, blob: UInt32)
        /// A message's file is there, but is no message any more.
        case spoiled(MessageKey)
    }

    /// The commit, with its differences from the basis.
    var node: GitHistory.Node
    /// In the order of the payload's paths, then a merge's deletions from other parents; a rewrite's in order of keys.
    var deeds: [Deed] = []
    /// The status of each deed's key in the tree that the deed was done to.
    var origins: [MessageKey: GitCommitDecoder.Status] = [:]
    /// The files of message paths that are no messages, in the order of the payload's paths. Only those that the commit
    /// itself wrote.
    var faults: [(path: String, blob: UInt32)] = []
    /// The folders that the commit made and removed, each list sorted by name.
    var madeFolders: [EntityID] = []
    var removedFolders: [EntityID] = []
}

extension GitStep {
    /// Determines the effect of a commit. The decoder's history must have the basis checked out, and its readings must
    /// contain the event's texts.
    init(
        of commit: String,
        parents: [GitKnownParent],
        decoder: GitCommitDecoder,
        scene: GitScene,
        names: inout Names
    ) {
        let basis = parents.basis
        node = GitHistory.Node(commit: commit, sequence: scene.event.sequence.rawValue, basis: basis?.index)
        var reading = GitStepReader(parents: parents, decoder: decoder, scene: scene)
        for change in basis?.parent.changes ?? [] { reading.read(change, into: &self, names: &names) }
        reading.readOthers(into: &self, names: &names)
        // A move pairs a removal and an addition of the commit's own; those of `readOthers` take no part.
        reading.pairMoves(in: &self)
        reading.readFolders(into: &self, names: names)
    }
}

/// Determines a step; used by `GitStep.init` alone.
private struct GitStepReader {
    let decoder: GitCommitDecoder
    let scene: GitScene
    /// The other known parents, each with its tree's differences from the basis.
    private let others: [(changes: [GitPathChange], span: GitSpan)]
    /// How many parents each path differs from; empty without a second parent. An absent path differs from none.
    private let differences: [String: Int]
    private let parentCount: Int
    /// Whether the basis is known. If not, the history has the empty tree checked out, and a path's `from` is no file
    /// of it.
    private let hasTree: Bool
    /// The commit's own additions and removals of messages, with their blobs, to find moves.
    private var added: [(key: MessageKey, blob: UInt32)] = []
    private var removed: [(key: MessageKey, blob: UInt32)] = []

    init(parents: [GitKnownParent], decoder: GitCommitDecoder, scene: GitScene) {
        let basis = parents.basis
        hasTree = basis?.index != nil
        parentCount = parents.count
        self.decoder = decoder
        self.scene = scene
        others = parents.compactMap { parent in
            guard let index = parent.index, index != basis?.index else { return nil }
            return (parent.parent.changes, decoder.history.span(from: basis?.index, to: index))
        }
        var differences: [String: Int] = [:]
        if parents.count > 1 {
            for change in parents.flatMap(\.parent.changes) { differences[change.path, default: 0] += 1 }
        }
        self.differences = differences
    }

    /// Whether the content under a path differs from every parent's. A merge lists such a path once for each parent.
    private func isOwn(_ path: String) -> Bool {
        parentCount < 2 || (differences[path] ?? 0) >= parentCount
    }

    /// Reads one path that differs from the basis.
    mutating func read(_ change: GitPathChange, into step: inout GitStep, names: inout Names) {
        guard let path = VibeChannelPath(change.path, by: scene.files) else { return }
        let channel = names.id(path.channel)
        // Every file counts for its folder, messages or not: git has a folder as long as it has a file.
        let count = (change.to == nil ? 0 : 1) - (change.from == nil || !hasTree ? 0 : 1)
        if count != 0 { step.node.folders[channel, default: 0] += count }
        guard let message = path.message else { return }
        let key = MessageKey(channel: channel, id: names.id(message))
        if let to = change.to, to.isFile {
            guard let blob = decoder.history.blobs.find(to.blob) else {
                return assertionFailure("the decoder has added the content of each message file")
            }
            put(blob, at: key, path: change.path, into: &step)
        } else {
            remove(key, isOwn: isOwn(change.path), from: &step)
        }
    }

    /// Notes a file's new content: adopted from another parent, or a deed of the commit's own.
    private mutating func put(_ blob: UInt32, at key: MessageKey, path: String, into step: inout GitStep) {
        let before = decoder.history.file(at: key)
        let grave = decoder.history.grave(at: key)
        // Only the mode changed, or the key has this content by another path (`suffixIsCutEverywhere`).
        guard before?.blob != blob else { return }
        let adopted = isOwn(path) ? nil : otherFiles(key).first { $0.blob == blob }
        let isMessage = decoder.readings.isMessage(blob)
        var after = adopted ?? .init(blob: blob, usable: isMessage ? blob : nil, since: step.node.sequence)
        // Kept for the tombstone: if the file goes, its last message is what was deleted.
        after.usable = after.usable ?? lastMessage(key)
        step.node.files[key] = .init(before: before, after: after)
        if grave != nil { step.node.graves[key] = .init(before: grave, after: nil) }
        guard adopted == nil else { return }
        guard isMessage else {
            step.faults.append((path, blob))
            return spoil(key, in: &step)
        }
        step.origins[key] = decoder.status(key)
        step.deeds.append(.wrote(key, blob: blob, previous: before?.usable))
        // A path that some parent has is no target of a move.
        if before == nil, otherFiles(key).isEmpty { added.append((key, blob)) }
    }

    /// Notes that a file is no message any more, if a parent had a message there, live or deleted.
    private func spoil(_ key: MessageKey, in step: inout GitStep) {
        var origin = decoder.status(key)
        if origin == .nowhere, let other = otherFiles(key).first(where: \.isMessage) {
            origin = .live(blob: other.blob)
        }
        guard origin != .nowhere else { return }
        step.origins[key] = origin
        step.deeds.append(.spoiled(key))
    }

    /// Notes that a file is gone, or is no file any more: adopted from another parent, or a deed of the commit's own.
    private mutating func remove(_ key: MessageKey, isOwn: Bool, from step: inout GitStep) {
        guard let before = decoder.history.file(at: key) else { return }
        step.node.files[key] = .init(before: before, after: nil)
        guard let usable = before.usable ?? lastMessage(key) else { return }
        let adopted = isOwn ? nil : others.compactMap { $0.span.graves[key]?.after }.first
        step.node.graves[key] = .init(before: nil, after: adopted ?? scene.grave(of: usable))
        guard adopted == nil else { return }
        // The deed deletes the last version that was a message, even if the file was none at the end.
        step.origins[key] = .live(blob: usable)
        step.deeds.append(.removed(key))
        if before.isMessage { removed.append((key, usable)) }
    }

    /// Reads the deletions of messages that other parents had and the basis never had. The differences from the basis
    /// do not show them: neither tree has the file.
    mutating func readOthers(into step: inout GitStep, names: inout Names) {
        for other in others {
            for change in other.changes where change.to?.isFile != true {
                guard let path = VibeChannelPath(change.path, by: scene.files), let message = path.message else {
                    continue
                }
                let key = MessageKey(channel: names.id(path.channel), id: names.id(message))
                guard isAbsent(key, in: step), let usable = file(key, in: other.span)?.usable else { continue }
                step.node.graves[key] = .init(before: nil, after: scene.grave(of: usable))
                step.origins[key] = .live(blob: usable)
                step.deeds.append(.removed(key))
            }
            for (key, difference) in other.span.graves {
                guard let grave = difference.after, isAbsent(key, in: step) else { continue }
                step.node.graves[key] = .init(before: nil, after: grave)
            }
            learnMessages(from: other.span, into: &step)
        }
    }

    /// Learns a path's last message from another parent, where the file is as in the basis and was no message there.
    /// Later commits know then what a removal of the file deletes.
    private func learnMessages(from span: GitSpan, into step: inout GitStep) {
        for key in Array(span.files.keys) + Array(span.graves.keys) where step.node.files[key] == nil {
            guard let file = decoder.history.file(at: key), file.usable == nil, let last = lastMessage(key) else {
                continue
            }
            var known = file
            known.usable = last
            step.node.files[key] = .init(before: file, after: known)
        }
    }

    /// The last blob under a key that was a message, in the basis, else in another parent.
    private func lastMessage(_ key: MessageKey) -> UInt32? {
        if let usable = decoder.history.file(at: key)?.usable { return usable }
        if let grave = decoder.history.grave(at: key), !grave.isMoved { return grave.usable }
        for other in others {
            if let usable = file(key, in: other.span)?.usable { return usable }
            if let grave = other.span.graves[key]?.after, !grave.isMoved { return grave.usable }
        }
        return nil
    }

    /// Whether neither the basis nor the step has a file or a grave under a key.
    private func isAbsent(_ key: MessageKey, in step: GitStep) -> Bool {
        decoder.history.file(at: key) == nil && decoder.history.grave(at: key) == nil && step.node.files[key] == nil
            && step.node.graves[key] == nil
    }

    /// The files of the other parents under a key.
    private func otherFiles(_ key: MessageKey) -> [GitHistory.File] {
        others.compactMap { file(key, in: $0.span) }
    }

    /// The file under a key at the end of a span that starts at the basis.
    private func file(_ key: MessageKey, in span: GitSpan) -> GitHistory.File? {
        if let difference = span.files[key] { return difference.after }
        return decoder.history.file(at: key)
    }

    /// Turns a removal and an addition of the same blob into a move. Several with one blob are paired in path order.
    /// Only equal contents make a move; git's own guesses from similar ones are not recorded.
    func pairMoves(in step: inout GitStep) {
        guard !added.isEmpty, !removed.isEmpty else { return }
        var origins = Dictionary(grouping: removed, by: \.blob).mapValues { $0.map(\.key)[...] }
        var origin: [MessageKey: MessageKey] = [:]
        for addition in added { origin[addition.key] = origins[addition.blob]?.popFirst() }
        let gone = Set(origin.values)
        step.deeds = step.deeds.compactMap { deed in
            switch deed {
            case .removed(let key) where gone.contains(key): return nil
            case .wrote(let key, let blob, _):
                return origin[key].map { .moved(from: $0, to: key, blob: blob) } ?? deed
            case .removed, .moved, .spoiled: return deed
            }
        }
        // The old path keeps its grave for later commits, which must not show it as a tombstone.
        for key in gone { step.node.graves[key]?.after?.isMoved = true }
    }

    /// Finds the folders that this commit made or removed: no parent had them, or every parent had them. Call it last,
    /// once all counts are known.
    func readFolders(into step: inout GitStep, names: Names) {
        step.node.folders = step.node.folders.filter { $0.value != 0 }
        for (folder, count) in Array(step.node.folders).inOrder({ names.precedes($0.key, $1.key) }) {
            let basis = decoder.history.folders[folder] ?? 0
            let counts = [basis] + others.map { basis + ($0.span.folders[folder] ?? 0) }
            if basis + count > 0, counts.allSatisfy({ $0 <= 0 }) { step.madeFolders.append(folder) }
            if basis + count <= 0, counts.allSatisfy({ $0 > 0 }) { step.removedFolders.append(folder) }
        }
    }
}
