/// The first message files of each channel's folder: GitHub's contents API lists only a folder's first thousand entries
/// (<https://docs.github.com/en/rest/repos/contents#get-repository-content>).
///
/// Only message files count. Their names begin with a date, so most other files of a folder sort after them. Only
/// profiles use it; under the canonical profile it stays empty.
struct GitListing: Codable, Sendable {
    static let entriesMax = 1_000

    /// The message files of the tree that is checked out, by channel, sorted by file name in byte order.
    private var folders: [EntityID: [EntityID]] = [:]

    /// Applies the differences of a span, which must start at the tree that was listed. Files that only changed keep
    /// their places.
    mutating func apply(_ span: GitSpan, _ names: Names) {
        for (key, difference) in span.files where (difference.before == nil) != (difference.after == nil) {
            let place = place(of: key, names)
            if difference.after == nil {
                folders[key.channel]?.remove(at: place)
            } else {
                folders[key.channel, default: []].insert(key.id, at: place)
            }
        }
    }

    /// The listed ids of a channel, in order of file name.
    func listed(_ channel: EntityID) -> ArraySlice<EntityID> {
        (folders[channel] ?? []).prefix(Self.entriesMax)
    }

    /// The ids of a channel's files beyond the listing.
    func hidden(_ channel: EntityID) -> Set<EntityID> {
        Set((folders[channel] ?? []).dropFirst(Self.entriesMax))
    }

    /// Whether a file exists beyond the listing.
    func hides(_ key: MessageKey, _ names: Names) -> Bool {
        guard let folder = folders[key.channel], folder.count > Self.entriesMax else { return false }
        let place = place(of: key, names)
        return place >= Self.entriesMax && place < folder.count && folder[place] == key.id
    }

    /// The index of a file in its folder, or the index at which to insert it.
    private func place(of key: MessageKey, _ names: Names) -> Int {
        let folder = folders[key.channel] ?? []
        let sought = Self.fileName(key.id, names)
        var (low, high) = (0, folder.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.fileName(folder[middle], names).utf8.lexicographicallyPrecedes(sought.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// With its suffix, which decides the order where one id begins with another: `a-b.md` precedes `a.md`.
    private static func fileName(_ id: EntityID, _ names: Names) -> String { names.text(id) + ".md" }
}

extension GitCommitDecoder {
    /// Returns the changes of an event that a client sees through its listing, once the new tree is checked out.
    ///
    /// Changes of unlisted files do not show. Other files enter or leave the listing when files before them in the
    /// folder go or come; that follows the event's own changes, channel by channel.
    ///
    /// - Parameter tip: the commit that was checked out before the event; `nil` for the empty tree.
    mutating func seen(_ changes: [Change], since tip: Int?, context: inout FoldContext) -> [Change] {
        let span = history.span(from: tip, to: history.tip)
        let before = listing
        listing.apply(span, context.names)
        var scene = GitScene(context, author: nil, time: nil)
        for change in changes { see(change, before, &scene, context.names) }
        let names = context.names
        for channel in Set(span.files.keys.map(\.channel)).sorted(by: { names.precedes($0, $1) }) {
            let (wereHidden, areHidden) = (before.hidden(channel), listing.hidden(channel))
            for id in listing.listed(channel) where wereHidden.contains(id) {
                let key = MessageKey(channel: channel, id: id)
                scene.comeIntoSight(key, decoder: self)
            }
            for id in before.listed(channel) where areHidden.contains(id) {
                let key = MessageKey(channel: channel, id: id)
                scene.stand(key, .nowhere, decoder: self)
            }
        }
        return scene.changes
    }

    /// Passes on one change unless its file is not listed. A written file counts by the new listing, a deleted one by
    /// the listing before the event.
    private func see(_ change: Change, _ before: GitListing, _ scene: inout GitScene, _ names: Names) {
        switch change {
        case .message(.written(let write)) where listing.hides(write.key, names),
            .message(.stands(_, .version(let write))) where listing.hides(write.key, names):
            break
        case .message(.deleted(let deletion)) where before.hides(deletion.key, names),
            .message(.stands(_, .deleted(let deletion, since: _, last: _))) where before.hides(deletion.key, names):
            break
        case .message(.moved(let from, let to, _, _)) where before.hides(from, names) || listing.hides(to, names):
            // `GitScene.tell` adds a change of its own for the new path.
            if !before.hides(from, names) { scene.stand(from, .nowhere, decoder: self) }
        default: scene.pass(change)
        }
    }
}
