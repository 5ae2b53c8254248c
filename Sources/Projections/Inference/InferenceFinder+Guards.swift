import JSON

/// What effects need of objects that do not always have it.
extension InferenceFinder {
    /// Lets effects pass over values that lack the id, the text or the channel, where some do.
    func addGuards(_ effects: inout [InferredEffect], _ index: Int) {
        for place in effects.indices {
            guard let count = valueCount(effects[place].path, index) else { continue }
            effects[place].guards = needed(effects[place]).filter { members in
                effects[place].instances.count { ($0.value.value(at: members) ?? .null) != .null } < count
            }
        }
    }

    /// How many values the innermost level on a way leads to; `nil` if they are no objects.
    private func valueCount(_ path: InferencePath, _ index: Int) -> Int? {
        let group = groups[index]
        let level = path.steps.lastIndex(where: \.isLevel).map { $0 + 1 } ?? 0
        if level <= group.base.steps.count { return group.units.count }
        return walks[index].instances[path.prefix(level)]?.count
    }

    private func needed(_ effect: InferredEffect) -> [InferenceMembers] {
        let isWhole = effect.verb == "make" && effect.subject == "message"
        var needed = effect.members.filter { $0.name == "id" || (isWhole && $0.name == "content") }.map(\.place)
        for (_, value) in effect.at {
            if case .place(effect.path.steps.count, let members) = value, !members.isEmpty { needed.append(members) }
        }
        return needed
    }
}
