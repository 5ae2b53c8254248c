#if Recorders
/// The order in which commits are recorded.
enum CommitOrder {
    /// The commits behind a tip, parents first: the reverse of git's topological order (`rev-list --topo-order`), in
    /// which a line of history stays together.
    static func parentsFirst(from tip: String, in commits: [String: GitHubCommit]) -> [GitHubCommit] {
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

/// Values by text, of which the oldest go when there are too many.
struct RecentValues<Value> {
    private let countMax: Int
    private var newer: [String: Value] = [:]
    private var older: [String: Value] = [:]

    /// - Parameter countMax: how many are kept at least; at most twice as many are.
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
