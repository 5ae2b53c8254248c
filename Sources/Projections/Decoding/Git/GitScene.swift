import EventLog

/// The state before the current event, the event's author and time, and the changes told so far.
///
/// The messages' fold knows one standing for each key, not trees. So a scene notes what the fold has, and adds the
/// changes that lead from there to the new tree: `restore`, `tell`, `settle`, in this order. It exists during one event
/// only.
struct GitScene {
    let event: EventReference
    let author: String?
    /// The remote's time of the event's deeds; `nil` for a rewrite, which states none.
    let time: Timestamp?
    let rules: ReadingRules
    let files: any MessageFileReader
    /// The texts that the event holds, by blob.
    private let stated: [String: String]
    /// The texts that the decoder's readings lie in.
    private let texts: TextPool
    /// The statuses, before the event, of the keys that it may touch. Complete once the spans and the step were noted.
    private(set) var statuses: [MessageKey: GitCommitDecoder.Status] = [:]
    /// Whether each folder that the event may touch existed before it.
    private(set) var folders: [EntityID: Bool] = [:]
    /// In the order in which the folds must apply them.
    private(set) var changes: [Change] = []

    init(_ context: FoldContext, _ files: GitFiles = GitFiles(), author: String?, time: Timestamp?) {
        event = context.event
        rules = context.rules
        self.files = context.rules.files
        stated = files.texts
        texts = context.texts
        self.author = author
        self.time = time
    }

    /// The grave of a message that the event deletes.
    func grave(of usable: UInt32) -> GitHistory.Grave {
        GitHistory.Grave(since: event, deletedAt: time, deletedBy: author, usable: usable)
    }

    /// Notes the current status of each key of a span, before its tree is left. The order of the keys does not matter:
    /// each is noted by itself.
    mutating func note(_ span: GitSpan, of decoder: GitCommitDecoder) {
        for key in span.files.keys { note(key, decoder) }
        for key in span.graves.keys { note(key, decoder) }
        for folder in span.folders.keys { note(folder: folder, decoder) }
    }

    /// Notes the current status of each key of a step; the first note of a key stays.
    mutating func note(_ step: GitStep, of decoder: GitCommitDecoder) {
        for key in step.node.files.keys { note(key, decoder) }
        for key in step.node.graves.keys { note(key, decoder) }
        for folder in step.node.folders.keys { note(folder: folder, decoder) }
    }

    mutating func note(_ key: MessageKey, _ decoder: GitCommitDecoder) {
        if statuses[key] == nil { statuses[key] = decoder.status(key) }
    }

    private mutating func note(folder: EntityID, _ decoder: GitCommitDecoder) {
        if folders[folder] == nil { folders[folder] = decoder.history.folders[folder] != nil }
    }

    /// Sets the keys of the deeds back to their statuses in the tree that the deeds were done to. Otherwise a deed
    /// would show as a change of another branch's version.
    mutating func restore(_ step: GitStep, decoder: GitCommitDecoder) {
        for key in step.deeds.flatMap(\.keys) {
            assert(statuses[key] != nil, "a deed's key is noted before its tree is left")
            guard let origin = step.origins[key], statuses[key] != origin else { continue }
            stand(key, origin, decoder: decoder)
        }
    }

    /// Tells what the commit did, new folders first: a message's channel exists before the message.
    mutating func tell(_ step: GitStep, decoder: GitCommitDecoder, names: Names) {
        for folder in step.madeFolders {
            // Another branch had the folder. If it did not vanish first, the fold would take it for known and make no
            // history entry.
            if folders[folder] == true { changes.append(.channel(.stands(folder, isPresent: false))) }
            let fields = ChannelFields(id: folder, name: names.text(folder), kind: "folder")
            changes.append(.channel(.stated(fields)))
        }
        for deed in step.deeds { tell(deed, decoder: decoder) }
    }

    private mutating func tell(_ deed: GitStep.Deed, decoder: GitCommitDecoder) {
        switch deed {
        case .wrote(let key, let blob, let previous):
            guard var write = write(key, blob, decoder) else { return changes.append(.message(.stands(key, .nowhere))) }
            write.isStated = stated[decoder.history.blobs.text(blob)] != nil
            // Without a readable previous version the content counts as changed.
            write.changesContent = previous.map { !decoder.readings.haveSameText($0, blob, texts) } ?? true
            write.remoteTime = time
            write.by = author
            changes.append(.message(.written(write)))
        case .removed(let key):
            let deletion = MessageDeletion(key: key, permanence: .untilWritten, deletedAt: time, deletedBy: author)
            changes.append(.message(.deleted(deletion)))
        case .moved(let from, let to, let blob):
            changes.append(.message(.moved(from: from, to: to, remoteTime: time, by: author)))
            // The move takes the message's history along; the content at the new path is set without a revision.
            stand(to, .live(blob: blob), decoder: decoder)
        case .spoiled(let key): changes.append(.message(.stands(key, .unreadable(at: time, by: author))))
        }
    }

    /// Sets every noted key and folder without a deed to its status in the tip's tree. The tip must be checked out.
    /// Sorted, because a dictionary has no order (I10).
    mutating func settle(_ step: GitStep, decoder: GitCommitDecoder, names: Names) {
        let told = Set(step.deeds.flatMap(\.keys))
        let keys = statuses.keys.filter { !told.contains($0) }.inOrder { $0.precedes($1, names) }
        for key in keys where decoder.status(key) != statuses[key] {
            stand(key, decoder.status(key), decoder: decoder)
        }
        let untold = folders.keys.filter { !step.madeFolders.contains($0) && !step.removedFolders.contains($0) }
        for folder in untold.inOrder({ names.precedes($0, $1) }) {
            let isPresent = decoder.history.folders[folder] != nil
            if isPresent != folders[folder] { changes.append(.channel(.stands(folder, isPresent: isPresent))) }
        }
        for folder in step.removedFolders {
            // The removal is that of a folder at the basis, which the state before the event may lack.
            if folders[folder] == false { changes.append(.channel(.stands(folder, isPresent: true))) }
            changes.append(.channel(.deleted(folder, cause: .channelDeleted, permanence: .untilWritten)))
        }
    }

    /// Sets a key to a status, without a revision or history: a branch moved, and nobody wrote or deleted anything.
    mutating func stand(_ key: MessageKey, _ status: GitCommitDecoder.Status, decoder: GitCommitDecoder) {
        switch status {
        case .nowhere: changes.append(.message(.stands(key, .nowhere)))
        case .live(let blob):
            // The text is missing only if a compaction dropped it. `Messages.admitted` takes no other text from before either.
            let standing = write(key, blob, decoder).map { MessageStanding.version($0) }
            changes.append(.message(.stands(key, standing ?? .nowhere)))
        case .deleted(let grave):
            let deletion = MessageDeletion(
                key: key,
                permanence: .untilWritten,
                deletedAt: grave.deletedAt,
                deletedBy: grave.deletedBy
            )
            let last = write(key, grave.usable, decoder)
            changes.append(.message(.stands(key, .deleted(deletion, since: grave.since, last: last))))
        }
    }

    /// Tells an older message as written now, because the client sees it for the first time.
    mutating func comeIntoSight(_ key: MessageKey, decoder: GitCommitDecoder) {
        guard case .live(let blob) = decoder.status(key), let write = write(key, blob, decoder) else { return }
        changes.append(.message(.written(write)))
    }

    /// Adds a change as it is.
    mutating func pass(_ change: Change) {
        changes.append(change)
    }

    /// The version that a blob is under a key; `nil` if the blob's text is not known or no message.
    private func write(
        _ key: MessageKey,
        _ blob: UInt32,
        _ decoder: GitCommitDecoder
    ) -> MessageWrite? {
        guard let saying = decoder.readings.saying(blob, texts) else { return nil }
        var write = MessageWrite(key: key, order: .byCreation, saying: saying)
        write.stored = decoder.readings.stored(blob)
        // Commits have no versions of their own: the log's order decides.
        write.revisesByArrival = true
        return write
    }
}

extension Array {
    /// The elements, sorted. Most commits touch one key, which costs nothing here.
    func inOrder(_ precedes: (Element, Element) -> Bool) -> [Element] { count < 2 ? self : sorted(by: precedes) }
}

extension GitStep.Deed {
    /// The keys that the deed is about.
    var keys: [MessageKey] {
        switch self {
        case .wrote(let key, _, _), .removed(let key), .spoiled(let key): [key]
        case .moved(let from, let to, _): [from, to]
        }
    }
}
