import JSON

/// What the members of like objects hold, two floors deep.
struct InferenceStatistics {
    struct Member {
        var count = 0
        /// Of texts, numbers and truth values; null is none.
        var valueCount = 0
        var textCount = 0
        var numberCount = 0
        /// Texts with a blank in them.
        var sentenceCount = 0
        var truths: Set<Bool> = []
        var forms: [DecoderTimeForm: Int] = [:]
        var values: [String] = []
        var lists: [[String]] = []

        var distinct: Set<String> { Set(values) }
        /// The form of the times that nearly all values are; `nil` if they are none.
        var timeForm: DecoderTimeForm? {
            let best = DecoderTimeForm.allCases.max { forms[$0, default: 0] < forms[$1, default: 0] }
            guard let best, valueCount > 0 else { return nil }
            // Whole seconds and seconds with a fraction may come together.
            let count = forms[best, default: 0] + (best == .secondsText ? forms[.seconds, default: 0] : 0)
            return count * 10 >= valueCount * 9 ? best : nil
        }
    }

    let instances: [InferenceInstance]
    private let tested: [InferenceMembers]
    private(set) var members: [InferenceMembers: Member] = [:]
    /// In the order in which they first stand.
    private(set) var places: [InferenceMembers] = []

    /// - Parameter tested: members that say what the objects are, and nothing of a thing.
    init(_ instances: [InferenceInstance], without tested: [InferenceMembers] = []) {
        self.instances = instances
        self.tested = tested
        for instance in instances { note(instance.value, []) }
    }

    private mutating func note(_ value: JSONValue, _ outer: InferenceMembers) {
        for entry in value.parts.prefix(60) {
            let place = outer + [entry.name]
            if tested.contains(place) { continue }
            if members[place] == nil {
                if places.count >= 300 { return }
                places.append(place)
            }
            add(entry.value, to: place)
            // Who said it may lie one deeper: `{"from": {"user": {"id": "7"}}}`.
            let depth = InferenceNames.author.contains(InferenceNames.plain(place[0])) ? 3 : 2
            if place.count < depth, entry.value.object != nil { note(entry.value, place) }
        }
    }

    private mutating func add(_ value: JSONValue, to place: InferenceMembers) {
        var member = members.removeValue(forKey: place) ?? Member()
        member.count += 1
        switch value {
        case .string(let text):
            member.textCount += 1
            if text.utf8.contains(0x20) { member.sentenceCount += 1 }
        case .number: member.numberCount += 1
        case .bool(let truth): member.truths.insert(truth)
        case .array(let elements):
            let texts = elements.prefix(InferenceWalk.elementsMax).compactMap(\.idText)
            if texts.count == elements.count || texts.count == InferenceWalk.elementsMax { member.lists.append(texts) }
        case .null, .object: break
        }
        if let text = value.idText {
            member.valueCount += 1
            member.values.append(text)
            if let form = DecoderTimeForm.plausible(value) { member.forms[form, default: 0] += 1 }
        }
        members[place] = member
    }

    /// Whether a member is one of the objects themselves, or what Extended JSON writes for it: `{"at": {"$date": 1}}`.
    static func isNear(_ place: InferenceMembers) -> Bool {
        place.count == 1 || (place.count == 2 && (place[1] == "$date" || place[1] == "$oid"))
    }

    /// The first member that has one of some names and fits, by the order of the names.
    func first(_ names: [String], where fits: (InferenceMembers, Member) -> Bool) -> InferenceMembers? {
        for name in names {
            for place in places where Self.isNear(place) && InferenceNames.plain(place[0]) == name {
                if let member = members[place], fits(place, member) { return place }
            }
        }
        return nil
    }

    /// The same, where the named member may be an object with a member of other names.
    func first(
        _ names: [String],
        within inner: [String],
        where fits: (InferenceMembers, Member) -> Bool
    ) -> InferenceMembers? {
        for name in names {
            for place in places where place.count == 1 && InferenceNames.plain(place[0]) == name {
                guard let member = members[place] else { continue }
                if member.valueCount > 0, fits(place, member) { return place }
                for innerName in inner {
                    for deep in places where deep.count == 2 && deep[0] == place[0] {
                        guard InferenceNames.plain(deep[1]) == innerName, let found = members[deep] else { continue }
                        if found.valueCount > 0, fits(deep, found) { return deep }
                    }
                }
            }
        }
        return nil
    }
}
