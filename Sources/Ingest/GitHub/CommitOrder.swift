#if Recorders
/// The order in which commits are recorded.
enum CommitOrder {
    /// The commits of `commits` that are reachable from a tip, parents first: the reverse of git's topological order
    /// (`rev-list --topo-order`), which keeps each line of history together.
    ///
    /// The order must be git's, so that a log recorded over the API is the one recorded from a clone. A commit comes
    /// only after all its children, and of several that are ready the one added last. Parents that `commits` lacks are
    /// passed over. Cost: O(commits + parents).
    static func parentsFirst(from tip: String, in commits: [String: GitHubCommit]) -> [GitHubCommit] {
        // How many children of each commit are still to come.
        var children: [String: Int] = [:]
        for id in reachable(from: tip, in: commits) {
            for parent in commits[id]?.parents ?? [] where commits[parent] != nil { children[parent, default: 0] += 1 }
        }
        var order: [GitHubCommit] = []
        var ready = [tip]
        while let id = ready.popLast(), let commit = commits[id] {
            order.append(commit)
            for parent in commit.parents {
                guard let count = children[parent] else { continue }
                children[parent] = count - 1
                if count == 1 { ready.append(parent) }
            }
        }
        return order.reversed()
    }

    /// The ids reachable from a tip without leaving `commits`; empty if the tip is not in it.
    private static func reachable(from tip: String, in commits: [String: GitHubCommit]) -> Set<String> {
        guard commits[tip] != nil else { return [] }
        var seen: Set = [tip]
        var stack = [tip]
        while let id = stack.popLast() {
            for parent in commits[id]?.parents ?? [] where commits[parent] != nil && seen.insert(parent).inserted {
                stack.append(parent)
            }
        }
        return seen
    }
}

/// A cache of values by text that drops the oldest when there are too many. In two halves: when the newer one is full,
/// it replaces the older one, so no order needs to be kept.
struct RecentValues<Value> {
    private let countMax: Int
    /// The values set since the last exchange of the halves.
    private var newer: [String: Value] = [:]
    /// The values set between the last two exchanges. Reading a value does not renew it.
    private var older: [String: Value] = [:]

    /// - Parameter countMax: the number of newest values that are always kept; at most twice as many are held.
    init(countMax: Int) {
        self.countMax = countMax
    }

    subscript(key: String) -> Value? {
        get { newer[key] ?? older[key] }
        set {
            if newer.count >= countMax { (older, newer) = (newer, [:]) }
            newer[key] = newValue
        }
    }
}
#endif
