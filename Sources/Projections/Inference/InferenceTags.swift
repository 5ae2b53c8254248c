import JSON

/// Lists of tags in objects, each a list of texts that begins with a word: `["e", "1a2b", "", "reply"]`.
struct InferenceTags {
    /// Tags alike: of the same list, with the same word, and the same mark at their fourth place.
    struct Kind: Hashable {
        let list: String
        let word: String
        let mark: String?
    }

    /// In the order in which they first stand.
    private(set) var kinds: [Kind] = []
    /// Each second place, with the object that it is of.
    private(set) var values: [Kind: [(owner: Int, text: String)]] = [:]
    private let ownerCount: Int

    static let kindsMax = 64

    init(_ instances: [InferenceInstance]) {
        ownerCount = instances.count
        for (owner, instance) in instances.enumerated() {
            for part in instance.value.object?.members.prefix(40) ?? [] {
                for tag in part.value.array?.prefix(InferenceWalk.elementsMax) ?? [] { add(tag, part.name, owner) }
            }
        }
    }

    private mutating func add(_ tag: JSONValue, _ list: String, _ owner: Int) {
        guard let (word, text, mark) = Self.parts(of: tag) else { return }
        let kind = Kind(list: list, word: word, mark: mark)
        if values[kind] == nil {
            guard kinds.count < Self.kindsMax else { return }
            kinds.append(kind)
        }
        values[kind, default: []].append((owner, text))
    }

    private static func parts(of tag: JSONValue) -> (word: String, text: String, mark: String?)? {
        guard let texts = tag.array?.prefix(8).map(\.string), texts.count >= 2, !texts.contains(nil) else { return nil }
        guard let word = texts[0], let text = texts[1], InferenceNames.isWord(word), !text.isEmpty else { return nil }
        let mark = texts.count > 3 ? texts[3] : nil
        return (word, text, mark.flatMap { InferenceNames.isWord($0) ? $0 : nil })
    }

    /// The tags whose values are mostly among some ids.
    func naming(_ known: (String) -> Bool) -> Kind? {
        kinds.first { kind in
            let texts = values[kind] ?? []
            return texts.count { known($0.text) } * 2 >= texts.count
        }
    }

    /// The tags that nearly every object has one of, with few values for many objects: what the objects are in.
    func placing(besides known: (String) -> Bool) -> Kind? {
        kinds.first { kind in
            let texts = values[kind] ?? []
            return Set(texts.map(\.owner)).count * 10 >= ownerCount * 9 && texts.count * 10 <= ownerCount * 11
                && Set(texts.map(\.text)).count * 2 < texts.count && !texts.contains { known($0.text) }
        }
    }

    /// The tests that a tag of a kind fits and one of another kind does not.
    func tests(of kind: Kind) -> [InferenceGroup.Test] {
        let head = InferenceGroup.Test(members: ["0"], condition: .text(kind.word))
        let isMarked = kinds.contains { $0.list == kind.list && $0.word == kind.word && $0.mark != nil }
        guard isMarked else { return [head] }
        return [head, .init(members: ["3"], condition: kind.mark.map { .text($0) } ?? .missing)]
    }

    /// The tags of a kind, with what lies around them.
    func instances(of kind: Kind, in owners: [InferenceInstance]) -> [InferenceInstance] {
        owners.flatMap { owner -> [InferenceInstance] in
            guard let list = owner.value[kind.list], let tags = list.array else { return [] }
            return tags.prefix(8).filter { tag in
                Self.parts(of: tag).map { $0.word == kind.word && $0.mark == kind.mark } ?? false
            }
            .map { owner.inside(list).inside($0) }
        }
    }
}
