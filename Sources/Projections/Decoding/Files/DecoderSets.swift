import EventLog

/// The things of the sets that snapshots state as a whole.
///
/// A compaction keeps the events that stated them last. Another event that it keeps may have stated a thing that left its set
/// later, by an event that goes: facts tell of those.
struct DecoderSets: Codable, Sendable {
    /// A thing of a set: a message, or a channel or item, whose `second` is none, or a user in a scope.
    struct Member: Codable, Hashable, Sendable {
        let subject: UInt8
        let first: EntityID
        let second: EntityID
    }

    /// A set and its scope.
    struct Name: Codable, Hashable, Sendable {
        let name: ExactText
        let scope: ExactText
    }

    /// A thing of a set, in whatever scope.
    private struct Home: Hashable {
        let set: ExactText
        let member: Member
    }

    /// With the last event that stated each.
    private var members: [Name: [Member: UInt64]] = [:]
    /// The things that are in a set no more, with the event that took each out.
    private var left: [Name: [Member: UInt64]] = [:]
    /// The last statements of the things that snapshots left out: without them a thing would not be in its set when the snapshot comes.
    private var statements: Set<UInt64> = []
    /// The scope in which a thing is, of sets that scopes divide. Follows from `members`, so it is not saved.
    private var scopes: [Home: ExactText] = [:]

    private enum CodingKeys: CodingKey { case members, left, statements }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        members = try container.decode([Name: [Member: UInt64]].self, forKey: .members)
        left = try container.decode([Name: [Member: UInt64]].self, forKey: .left)
        statements = try container.decode(Set<UInt64>.self, forKey: .statements)
        for (name, things) in members where !name.scope.string.isEmpty {
            for member in things.keys { scopes[Home(set: name.name, member: member)] = name.scope }
        }
    }

    /// The things of a set, in any order.
    func members(of name: Name) -> [Member] { members[name].map { Array($0.keys) } ?? [] }

    func holds(_ member: Member, in name: Name) -> Bool { members[name]?[member] != nil }

    /// Notes that an event states a thing. It is in one scope of the set then: in no other one.
    mutating func state(_ member: Member, in name: Name, at sequence: UInt64) {
        let home = name.scope.string.isEmpty ? nil : Home(set: name.name, member: member)
        if let home, let scope = scopes[home], scope != name.scope {
            remove(member, from: Name(name: name.name, scope: scope), at: sequence)
        }
        if let end = left[name]?[member] {
            if end > sequence { return }
            left[name]?[member] = nil
        }
        members[name, default: [:]][member] = sequence
        if let home { scopes[home] = name.scope }
    }

    /// Notes that a thing is in the set no more. Of one that is not in it, nothing is noted: it left before.
    mutating func remove(_ member: Member, from name: Name, at sequence: UInt64) {
        guard members[name]?.removeValue(forKey: member) != nil else { return }
        let home = Home(set: name.name, member: member)
        if scopes[home] == name.scope { scopes[home] = nil }
        left[name, default: [:]][member] = max(left[name]?[member] ?? 0, sequence)
    }

    /// Notes that a snapshot leaves a thing of the set out.
    mutating func leaveOut(_ member: Member, of name: Name, at sequence: UInt64) {
        if let statement = members[name]?[member] { statements.insert(statement) }
        remove(member, from: name, at: sequence)
    }

    // MARK: - Compactions

    func collectNeeded(into sequences: inout SequenceSet) {
        for sequence in statements { sequences.insert(sequence) }
        for members in members.values { for sequence in members.values { sequences.insert(sequence) } }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for (name, members) in Self.sorted(members) where !members.isEmpty {
            let texts = members.keys.map { member in
                "\(member.subject)/\(names.text(member.first))/\(names.text(member.second))"
            }
            take(
                .array([
                    .string(name.name.string), .string(name.scope.string),
                    .array(texts.sorted(by: ExactText.precedes).map { .string($0) }),
                ])
            )
        }
    }

    /// One fact for each thing that left a set by an event that is not kept.
    func facts(keeping kept: SequenceSet, names: Names) -> [JSONValue] {
        Self.sorted(left).flatMap { name, members in
            members.filter { !kept.contains($0.value) }
                .map {
                    (
                        subject: $0.key.subject, first: names.text($0.key.first), second: names.text($0.key.second),
                        $0.value
                    )
                }
                .sorted { left, right in
                    ExactText.precedes(
                        "\(left.subject)/\(left.first)/\(left.second)",
                        "\(right.subject)/\(right.first)/\(right.second)"
                    )
                }
                .map { subject, first, second, sequence in
                    .array([
                        .string(name.name.string), .string(name.scope.string), .int(Int(subject)), .string(first),
                        .string(second), .string(String(sequence)),
                    ])
                }
        }
    }

    mutating func load(facts: JSONValue?, names: inout Names) throws {
        for fact in facts?.array ?? [] {
            let parts = fact.array ?? []
            guard parts.count == 6, let name = parts[0].string, let scope = parts[1].string,
                let subject = parts[2].number?.int64.flatMap({ UInt8(exactly: $0) }), let first = parts[3].string,
                let second = parts[4].string, let sequence = parts[5].string.flatMap({ UInt64($0) })
            else { throw ProjectionError.facts("a thing that left a set has another form") }
            let member = Member(
                subject: subject,
                first: names.id(first),
                second: second.isEmpty ? .none : names.id(second)
            )
            left[Name(name: ExactText(name), scope: ExactText(scope)), default: [:]][member] = sequence
        }
    }

    private static func sorted(_ sets: [Name: [Member: UInt64]]) -> [(Name, [Member: UInt64])] {
        sets.sorted {
            ExactText.precedes(
                $0.key.name.string + "/" + $0.key.scope.string,
                $1.key.name.string + "/" + $1.key.scope.string
            )
        }.map { ($0.key, $0.value) }
    }
}
