import EventLog
import Kinds

/// Reads the commits of a chat kept as message files in a git branch: channels are top-level folders, messages the
/// markdown files in them.
///
/// The state follows the tree of the log's last commit. The commit that made a change tells it, once; a merge tells
/// only the paths whose content differs from every parent's. If a commit does not follow the one before it in the log,
/// the messages switch to its tree, without revisions or history.
///
/// `GitHistory` has the trees, `GitStep` finds a commit's own deeds, and `GitScene` turns them into changes. A commit
/// that the log has already changes nothing.
struct GitCommitDecoder: SourceDecoder {
    private static let rewriteKind = KnownKind.gitRewrite.rawValue

    var history = GitHistory()
    /// The message files read so far. Not in facts or normal forms: the kept events give them again. A message
    /// file's blob that is not here had no text in its event, or its event was dropped.
    var readings = GitReadings()
    /// The last graves of messages that rewrites deleted, or that lines had which a rewrite left for a tip that knew nothing
    /// of them.
    var orphans: [MessageKey: GitHistory.Grave] = [:]
    /// The sequences of the events that rewrote the branch, ascending. All of them are needed, because no tree shows a
    /// rewrite.
    var rewrites: [UInt64] = []
    /// The client's listing of the tree that is checked out; empty unless the rules need it.
    var listing = GitListing()
    /// The client's memory beside the state; empty unless the rules need it.
    private var client = GitClient()
    /// The texts of names that contain a `%`.
    var spellings = GitSpellings()
    /// The log's key. Not saved.
    var key = FrameKey.none
    /// Whether the commits are some of a branch's, so that one whose parents are not among them follows the one before
    /// it. Not saved.
    var isPart = false

    private enum CodingKeys: CodingKey {
        case history, readings, orphans, rewrites, listing, client, spellings, tipEvent
    }

    init() {}

    /// The event that set the tip: of the last commit or rewrite. Compactions keep it (`collectNeeded`).
    private(set) var tipEvent: EventReference?

    /// The id of the commit that is checked out; `nil` for the empty tree.
    var tipCommit: String? { history.tip.map { history.commit(at: $0) } }

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        // Dropped commits enter in log order, so every event finds the commits that it found before the compaction.
        history.admit(before: envelope.sequence.rawValue)
        if context.rules.isEmpty {
            return read(envelope.kind.rawValue, payload, into: &changes, context: &context)
        }
        // Held commits are read only now, all at this event: that is when the client sees them.
        guard let held = client.reload(envelope, payload: payload, context: context) else { return }
        var seen: [Change] = []
        for commit in held {
            commit.payload.withUnsafeBytes { read(commit.kind, $0, into: &seen, context: &context) }
        }
        read(envelope.kind.rawValue, payload, into: &seen, context: &context)
        changes += client.shown(seen, context: &context)
    }

    /// Notes a recorder's notice that a request of its own failed on the server (5xx).
    mutating func noteNotice(_ envelope: Envelope) {
        guard envelope.kind.is(.recorderHTTP) else { return }
        if envelope.attributes["status"]?.utf8.first == UInt8(ascii: "5") { client.noteFailure() }
    }

    /// Reads a commit or a rewrite. A payload that is neither is an issue.
    private mutating func read(
        _ kind: String,
        _ payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        do throws(GitDocumentFault) {
            let tip = history.tip
            let all =
                kind == Self.rewriteKind
                ? decode(spelled(try GitRewriteDocument(payload)), context: &context)
                : decode(spelled(try GitCommitDocument(payload)), context: &context)
            if history.tip != tip || kind == Self.rewriteKind { tipEvent = context.event }
            let isCut = context.rules.contains(.foldersAreListedInPart)
            changes += isCut ? seen(all, since: tip, context: &context) : all
        } catch {
            context.issue("the payload is no \(kind): \(error.reason)")
        }
    }

    private mutating func spelled(_ document: GitCommitDocument) -> GitCommitDocument {
        var document = document
        for parent in document.parents.indices { spellings.spell(&document.parents[parent].changes) }
        return document
    }

    private mutating func spelled(_ document: GitRewriteDocument) -> GitRewriteDocument {
        var document = document
        spellings.spell(&document.changes)
        return document
    }

    /// Reads a commit and checks it out.
    private mutating func decode(_ document: GitCommitDocument, context: inout FoldContext) -> [Change] {
        context.remoteTime = document.committedAt
        // The time above counts even for a repeated commit, because the event states it.
        guard history.index(of: document.commit) == nil else { return [] }
        var parents = document.parents.map { parent in
            GitKnownParent(index: parent.commit.flatMap { history.index(of: $0) }, parent: parent)
        }
        if isPart, let first = parents.first, first.isUnknown, parents.allSatisfy(\.isUnknown) {
            parents[0].index = history.tip
        }
        for parent in parents where parent.isUnknown {
            context.issue("the log has no commit \(parent.parent.commit ?? ""), which is a parent of this one")
        }
        // Before the step, which needs to know of each blob whether it is a message.
        for parent in parents { read(document.files, of: parent.parent.changes, context: &context) }
        var scene = GitScene(context, document.files, author: document.author, time: document.committedAt)
        scene.note(history.span(from: history.tip, to: parents.basis?.index), of: self)
        history.checkOut(parents.basis?.index)
        let step = GitStep(of: document.commit, parents: parents, decoder: self, scene: scene, names: &context.names)
        return finish(step, scene, context: &context)
    }

    /// Checks out the step's commit and returns its changes. The step's basis must be checked out.
    mutating func finish(_ step: GitStep, _ scene: GitScene, context: inout FoldContext) -> [Change] {
        var scene = scene
        assert(history.index(of: step.node.commit) == nil, "a commit is added once")
        assert(step.node.basis == history.tip, "a step starts from the tree that is checked out")
        // Keys that the way to the basis did not touch have the same status at the basis and in the state.
        scene.note(step, of: self)
        // First the deeds' keys as their parents had them, then the deeds, then all other keys as the new tree has
        // them.
        scene.restore(step, decoder: self)
        history.checkOut(history.add(step.node))
        scene.tell(step, decoder: self, names: context.names)
        scene.settle(step, decoder: self, names: context.names)
        for fault in step.faults where !scene.rules.contains(.faultsAreNotTold) {
            context.issue("\"\(fault.path)\" is no message: \(readings.fault(fault.blob) ?? Self.noText)")
        }
        return scene.changes
    }

    /// Reads the message files among an event's texts, each blob once: equal content is one reading, in whatever file
    /// or commit it occurs.
    mutating func read(_ files: GitFiles, of changes: [GitPathChange], context: inout FoldContext) {
        let (rules, reader) = (context.rules, context.rules.files)
        for change in changes {
            guard let to = change.to, to.isFile, VibeChannelPath(change.path, by: reader)?.message != nil else {
                continue
            }
            // Also without a text: the trees refer to contents by their places.
            let blob = history.blobs.add(to.blob)
            guard !readings.contains(blob), let text = files.texts[to.blob] else { continue }
            let isLarge = (files.sizes[to.blob] ?? 0) > Self.fetchedBytesMax
            if isLarge, rules.contains(.largeFilesAreNotFetched) {
                readings.set(blob, fault: "it is too large for the client to fetch")
                continue
            }
            do {
                // The canonical reader by its own type, which the compiler specializes.
                let message =
                    rules.isEmpty
                    ? try FrontMatter(file: text, by: CanonicalFiles(), key: key)
                    : try FrontMatter(file: text, by: reader, key: key)
                try readings.set(blob, message.saying(names: &context.names), &context.texts)
            } catch {
                readings.set(blob, fault: (error as? MessageFile.Fault)?.reason ?? Self.noText)
            }
        }
    }

    private static let noText = "its event holds no text of it, for it is too large or not UTF-8"

    /// The largest file whose content GitHub's contents API returns, in bytes:
    /// <https://docs.github.com/en/rest/repos/contents#get-repository-content>.
    private static let fetchedBytesMax: Int64 = 1 << 20
}

extension GitCommitDecoder {
    /// The status of a key in a tree.
    enum Status: Hashable {
        case nowhere
        case live(blob: UInt32)
        case deleted(GitHistory.Grave)
    }

    /// The status of a key in the tree that is checked out.
    func status(_ key: MessageKey) -> Status {
        status(key, file: history.file(at: key), grave: history.grave(at: key))
    }

    func status(_ key: MessageKey, file: GitHistory.File?, grave: GitHistory.Grave?) -> Status {
        if let file { return file.isMessage ? .live(blob: file.blob) : .nowhere }
        let orphan = orphans[key]
        // The tip's own deletion counts, unless a rewrite deleted the message later.
        if let grave, !(orphan.map { $0.since.sequence > grave.since.sequence && isRewrite($0.since) } ?? false) {
            return grave.isMoved ? .nowhere : .deleted(grave)
        }
        return orphan.map { .deleted($0) } ?? .nowhere
    }

    private func isRewrite(_ event: EventReference) -> Bool {
        let sequence = event.sequence.rawValue
        let place = rewrites.partitioningIndex { $0 >= sequence }
        return place < rewrites.count && rewrites[place] == sequence
    }
}
