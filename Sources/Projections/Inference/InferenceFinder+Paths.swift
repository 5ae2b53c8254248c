import JSON

/// Values whose meaning a path beside them names: `{"path": "/messages/r1/m1/text", "data": "new"}`.
extension InferenceFinder {
    /// A new text at a path that ends with the name of a message's text: an edit.
    func textAtPath(_ index: Int) -> InferredEffect? {
        let group = groups[index]
        guard let (pointer, pattern) = path(of: group), let name = pattern.names.last, !pattern.endsWithID,
            let last = pattern.parts.last ?? nil, InferenceNames.content.contains(InferenceNames.plain(last)),
            let id = group.part(name)
        else { return nil }
        let outer = Array(pointer.dropLast())
        let texts = group.units.lazy.flatMap { $0.value.value(at: outer)?.parts.prefix(60) ?? [] }
        let text = texts.first { outer + [$0.name] != pointer && $0.value.string != nil }
        let statistics = statistics(index, group.base, group.units)
        guard let content = text.map({ outer + [$0.name] }), share(id, group.base, statistics) >= 50 else { return nil }
        var effect = InferredEffect(
            verb: "patch",
            subject: "message",
            path: group.base,
            reason: "\(group.count); a text \(InferenceText.pointer(content)) for \(Self.text(id)): an edit",
            instances: group.units
        )
        effect.at = [("channel", pathChannel(index, besides: id) ?? .constant("all")), ("id", id)]
        effect.members = [.init(name: "content", place: content)]
        effect.needs = ["author", "content"]
        return effect
    }

    private func path(of group: InferenceGroup) -> (members: InferenceMembers, pattern: InferencePattern)? {
        for test in group.key.tests {
            if case .path(let pattern, _) = test.condition { return (test.members, pattern) }
        }
        return nil
    }

    /// Whether the path in a group's units names a thing rather than a member of one.
    func endsWithID(_ index: Int) -> Bool { path(of: groups[index])?.pattern.endsWithID ?? false }

    /// The part of a path beside an object that names its channel: that before the one that names the object.
    func pathChannel(_ index: Int, besides id: InferenceValue?) -> InferenceValue? {
        for outer in lineage(index) {
            let part = groups[outer].part("id")
            if let part, part != id, endsWithID(outer) { return part }
            if let channel = groups[outer].part("channel"), channel != id { return channel }
        }
        return nil
    }

    /// A group and those that it lies in.
    func lineage(_ index: Int) -> [Int] {
        var (places, place) = ([Int](), Optional(index))
        while let next = place {
            places.append(next)
            place = groups[next].parent
        }
        return places
    }
}
