import EventLog

/// What VibeChannel's clients see of a branch's commits. Only profiles use it.
///
/// `reload` decides for each event, in log order, which commits show now; `shown` decides which of their changes show.
/// It is no part of facts or normal forms.
struct GitClient: Codable, Sendable {
    /// A commit that the client does not see yet.
    struct HeldCommit: Codable, Sendable {
        var kind: String
        var payload: [UInt8]
    }

    /// The open channel; `nil` until a commit brings one.
    private var open: EntityID?
    /// The channel of each message, by file name.
    private var places: [EntityID: EntityID] = [:]
    /// When the last commit that showed was recorded; `nil` before the first.
    private var reloadedAt: Timestamp?
    /// The commits held back since the last reload, in log order.
    private var held: [HeldCommit] = []
    /// Whether the last request failed.
    private var hasFailed = false
    /// The client's user: the author of the first message. `nil` until one is written.
    private var user: String?
    /// The second copies (`ID#2`) of what the user sent since the last reload.
    private var doubles: [MessageKey] = []
    /// When the messages of each channel were created, by channel and message; those that the cache dropped are absent.
    private var dates: [EntityID: [EntityID: Timestamp]] = [:]

    /// The lists of each message's last version.
    private var lists: [MessageKey: MessageLists] = [:]
    /// The true versions of messages that show, until the next reload, lists that their edit dropped.
    private var edits: [MessageWrite] = []
    /// The last commit of the client's own line; `nil` before the first.
    private var line: String?

    /// How long GitHub lets a client cache a listing, in seconds.
    private static let listingSeconds: Int64 = 60
    /// How long a poll takes with a slow git, in seconds.
    private static let pollSeconds: Int64 = 10
    /// The client caches the newest messages of a channel.
    private static let cachedMessagesMax = 500
    /// The subject that the client gives to a merge in which it resolved conflicts.
    private static let resolvedSubject = "Resolve conflicts (auto)"

    /// Notes that a request of the recorder failed: the client's request at that time fails too.
    mutating func noteFailure() { hasFailed = true }

    /// Returns the held commits that show before this one, in log order; `nil` if this one is held back too, or never
    /// shows.
    ///
    /// A commit that shows empties the list of held ones: a client reads the branch's tip, which contains all of them.
    mutating func reload(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        context: FoldContext
    ) -> [HeldCommit]? {
        if context.rules.contains(.partedBranchIsNotPulled), !pulls(GitLineage(payload)) { return nil }
        let isHidden = isHidden(payload, at: context.event.recordedAt, context.rules)
        // A failure concerns one request, that for this commit.
        hasFailed = false
        if isHidden {
            held.append(HeldCommit(kind: envelope.kind.rawValue, payload: Array(payload)))
            return nil
        }
        reloadedAt = context.event.recordedAt
        defer { held = [] }
        return held
    }

    /// Whether a commit does not show at its own time. `now` is when the recorder received it.
    private mutating func isHidden(_ payload: UnsafeRawBufferPointer, at now: Timestamp, _ rules: ReadingRules) -> Bool
    {
        if hasFailed, rules.contains(.failedReloadIsNotRepeated) { return true }
        if rules.contains(.ownDeletionIsKept),
            // The subject that the client gives to its own deletions.
            (try? JSONValue.parse(payload))?["subject"]?.string == "Delete message"
        {
            return true
        }
        if rules.contains(.resolvedConflictIsNotTold) { return isUntold(GitLineage(payload)) }
        let isListing = rules.contains(.listingsAreAMinuteOld)
        guard isListing || rules.contains(.pollDuringAnotherFails), let reloadedAt else { return false }
        let (age, overflow) = now.seconds.subtractingReportingOverflow(reloadedAt.seconds)
        return !overflow && age < (isListing ? Self.listingSeconds : Self.pollSeconds)
    }

    /// Whether a fast-forward-only pull takes a commit: its only parent must be the last commit of the client's line.
    /// The first commit begins the line.
    private mutating func pulls(_ lineage: GitLineage?) -> Bool {
        guard let lineage, line == nil || lineage.parents == [line] else { return line == nil }
        line = lineage.commit
        return true
    }

    /// Whether a commit stays unseen: it is outside the client's own line, or the client made it to resolve conflicts.
    private mutating func isUntold(_ lineage: GitLineage?) -> Bool {
        guard let lineage, !lineage.isBeside(line) else { return lineage != nil }
        line = lineage.commit
        return lineage.parents.count > 1 && lineage.subject == Self.resolvedSubject
    }

    /// Returns the changes that the client shows for an event's changes.
    mutating func shown(_ changes: [Change], context: inout FoldContext) -> [Change] {
        let rules = context.rules
        // Each step sees what the steps before it let through.
        var shown = rules.contains(.oneChannelIsReloaded) ? ofTheOpenChannel(changes) : changes
        if rules.contains(.fileNameIsTheKey) { shown = shown.flatMap { placed($0) } }
        if rules.contains(.ownMessageStandsTwice) { shown = doubled(shown, context: &context) }
        if rules.contains(.ownEditKeepsWhatItDrops) { shown = whole(shown) }
        if rules.contains(.newestFiveHundredAreCached) { shown += uncached(after: shown, context.names) }
        return shown
    }

    /// Shows the user's new messages twice until the next reload: from the call's result and from the load. First takes
    /// away the second copies of the reload before.
    private mutating func doubled(_ changes: [Change], context: inout FoldContext) -> [Change] {
        var shown = doubles.map { Change.message(.stands($0, .nowhere)) } + changes
        doubles = []
        for case .message(.written(var write)) in changes
        where places[write.key.id] == nil || write.saying.editedAt == nil {
            user = user ?? write.saying.author
            guard write.saying.author == user, write.saying.editedAt == nil else { continue }
            write.key.id = context.names.id("\(context.names.text(write.key.id))#2")
            doubles.append(write.key)
            shown.append(.message(.written(write)))
        }
        return shown
    }

    /// Keeps, until the next reload, the lists that the user's edit dropped from the file. First shows the true
    /// versions of the edits before.
    private mutating func whole(_ changes: [Change]) -> [Change] {
        var shown = edits.map { Change.message(.stands($0.key, .version($0))) }
        edits = []
        for change in changes {
            guard case .message(.written(var write)) = change else { shown.append(change); continue }
            user = user ?? write.saying.author
            // Noted before `fill`, so these are the file's lists and not those shown.
            let before = lists.updateValue(MessageLists(write), forKey: write.key)
            if let before, write.saying.editedAt != nil, write.saying.author == user {
                edits.append(write)
                before.fill(&write)
            }
            shown.append(.message(.written(write)))
        }
        return shown
    }

    /// Removes the messages that the cache drops: all but a channel's newest, by creation time, then id. Cost: O(n log
    /// n) in all cached messages.
    private mutating func uncached(after changes: [Change], _ names: Names) -> [Change] {
        for change in changes {
            switch change {
            case .message(.written(let write)), .message(.stands(_, .version(let write))):
                dates[write.key.channel, default: [:]][write.key.id] = write.saying.createdAt
            case .message(.deleted(let deletion)): dates[deletion.key.channel]?[deletion.key.id] = nil
            default: break
            }
        }
        return names.sorted(Array(dates.keys)).flatMap { channel -> [Change] in
            let ids = names.sorted(dates[channel].map { Array($0.keys) } ?? [])
            // Sorted by id before, and the sort by time is stable: equal times keep the order of ids.
            let aged = ids.compactMap { id in dates[channel]?[id].map { (made: $0, id: id) } }
            let old = aged.sorted { $0.made < $1.made }.dropLast(Self.cachedMessagesMax)
            for message in old { dates[channel]?[message.id] = nil }
            return old.map { .message(.stands(MessageKey(channel: channel, id: $0.id), .nowhere)) }
        }
    }

    /// The changes of the open channel. The first channel that a commit states is the open one; the changes of channels
    /// in that commit all show.
    private mutating func ofTheOpenChannel(_ changes: [Change]) -> [Change] {
        let isFirst = open == nil
        for case .channel(.stated(let fields)) in changes where open == nil { open = fields.id }
        return changes.filter { change in
            if isFirst, case .channel = change { return true }
            return Self.channel(of: change).map { $0 == open } ?? true
        }
    }

    /// A change, preceded by the removal of another channel's message with the same file name.
    private mutating func placed(_ change: Change) -> [Change] {
        switch change {
        case .message(.written(let write)), .message(.stands(_, .version(let write))):
            let before = places.updateValue(write.key.channel, forKey: write.key.id)
            guard let before, before != write.key.channel else { return [change] }
            return [.message(.stands(MessageKey(channel: before, id: write.key.id), .nowhere)), change]
        case .message(.moved(_, let to, _, _)):
            places[to.id] = to.channel
            return [change]
        default: return [change]
        }
    }

    /// The channel that a change concerns; `nil` for one that concerns none. A move concerns its target.
    private static func channel(of change: Change) -> EntityID? {
        switch change {
        case .channel(.stated(let fields)): fields.id
        case .channel(.named(let id, _)), .channel(.deleted(let id, _, _)), .channel(.stands(let id, _)): id
        case .message(.written(let write)): write.key.channel
        case .message(.deleted(let deletion)): deletion.key.channel
        case .message(.moved(_, let to, _, _)): to.channel
        case .message(.stands(let key, _)), .message(.reaction(let key, _, _, _)): key.channel
        default: nil
        }
    }
}

/// The lists of a message, which an edit may drop.
private struct MessageLists: Codable {
    private var files: [String]?
    private var images: [String]?
    private var attachments: [JSONValue]?

    init(_ write: MessageWrite) {
        files = write.saying.files
        images = write.saying.images
        attachments = write.saying.attachments
    }

    /// Fills in the lists that a version lacks.
    func fill(_ write: inout MessageWrite) {
        write.stored = nil
        write.saying.files = write.saying.files ?? files
        write.saying.images = write.saying.images ?? images
        write.saying.attachments = write.saying.attachments ?? attachments
    }
}

/// A commit and its parents; for a rewrite, the new tip without parents.
private struct GitLineage {
    let commit: String
    /// In the commit's order; an element is `nil` where a root commit is compared with the empty tree.
    let parents: [String?]
    let subject: String?

    /// `nil` if the payload is neither a commit nor a rewrite.
    init?(_ payload: UnsafeRawBufferPointer) {
        guard let value = try? JSONValue.parse(payload), let commit = (value["commit"] ?? value["to"])?.string else {
            return nil
        }
        self.commit = commit
        parents = (value["parents"]?.array ?? []).map { $0["commit"]?.string }
        subject = value["subject"]?.string
    }

    /// Whether its first parent is another commit than the last one of a line.
    func isBeside(_ line: String?) -> Bool {
        guard let line, let parent = parents.first, let parent else { return false }
        return parent != line
    }
}
