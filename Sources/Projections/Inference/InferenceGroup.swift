import EventLog
import JSON
import Kinds

/// One event of the sample.
struct InferenceEvent: Sendable {
    let kind: EventKind
    let attributes: Attributes
    let value: JSONValue

    /// The path of the request that an answer belongs to; `nil` of a frame or a Server-Sent Event, whose path says nothing of it.
    var requestPath: String? { kind.is(.httpAnswer) ? attributes["path"] : nil }
}

/// Events that one rule may take: alike in what names their kind.
struct InferenceGroup: Sendable {
    /// A test that all of them fit.
    struct Test: Hashable, Sendable {
        enum Condition: Hashable, Sendable {
            case text(String), number(String), present, missing
        }
        let members: InferenceMembers
        let condition: Condition
    }

    struct Key: Hashable, Sendable {
        let kind: EventKind
        /// The pattern of the request's path; empty without one.
        let path: String
        let tests: [Test]
    }

    let key: Key
    var events: [Int] = []

    /// The words that name what the events are.
    var words: Set<String> {
        InferenceNames.words(
            of: key.tests.flatMap { test -> [String] in
                switch test.condition {
                case .text(let text): [text]
                case .present: test.members
                case .number, .missing: []
                }
            }
        )
    }
}

/// Divides events into groups.
struct InferenceGrouping {
    private let events: [InferenceEvent]
    /// The members that name what an event is, as `/type`.
    let discriminators: [InferenceMembers]
    /// The members of many events, whose presence names nothing.
    private let common: Set<String>

    init(_ events: [InferenceEvent]) {
        self.events = events
        let framed = events.filter { $0.requestPath == nil }
        discriminators = Self.discriminators(of: framed.map(\.value))
        var counts: [String: Int] = [:]
        for event in framed { for member in event.value.object?.members ?? [] { counts[member.name, default: 0] += 1 } }
        common = Set(counts.filter { $0.value * 10 > framed.count * 9 }.keys)
    }

    /// In the order of their first events.
    func groups() -> [InferenceGroup] {
        var places: [InferenceGroup.Key: Int] = [:]
        var groups: [InferenceGroup] = []
        for (index, event) in events.enumerated() {
            let key = key(of: event)
            if let place = places[key] {
                groups[place].events.append(index)
            } else if groups.count < 256 {
                places[key] = groups.count
                groups.append(InferenceGroup(key: key, events: [index]))
            }
        }
        return groups
    }

    private func key(of event: InferenceEvent) -> InferenceGroup.Key {
        if let path = event.requestPath {
            return InferenceGroup.Key(kind: event.kind, path: Self.pattern(of: path), tests: [])
        }
        var tests: [InferenceGroup.Test] = []
        var isNamed = false
        for members in discriminators {
            switch event.value.value(at: members) {
            case .string(let text)? where Self.isWord(text):
                tests.append(.init(members: members, condition: .text(text)))
                isNamed = true
            case .number(let number)?:
                tests.append(.init(members: members, condition: .number(number.text)))
                isNamed = true
            case nil where isNamed: tests.append(.init(members: members, condition: .missing))
            default: break
            }
        }
        if !isNamed {
            tests = (event.value.object?.members ?? []).prefix(8).filter { !common.contains($0.name) }
                .map { .init(members: [$0.name], condition: .present) }
        }
        return InferenceGroup.Key(kind: event.kind, path: "", tests: tests)
    }

    // MARK: - Discriminators

    private struct Candidate {
        var count = 0
        var values: [String: Set<[String]>] = [:]
        var isFit = true
    }

    private static func discriminators(of values: [JSONValue]) -> [InferenceMembers] {
        var candidates: [InferenceMembers: Candidate] = [:]
        for value in values {
            let shape = shape(of: value)
            note(value, [], shape, &candidates)
        }
        let fit = candidates.filter { $0.value.isFit && $0.value.values.count > 1 && $0.value.values.count <= 64 }
        var named = fit.keys.filter { InferenceNames.naming.contains(InferenceNames.plain($0.last ?? "")) }
        if !named.contains(where: { $0.count == 1 }) {
            // By values alone: few, in most payloads, each with a shape of its own.
            let others = fit.filter { members, candidate in
                members.count == 1 && candidate.values.count <= 16 && candidate.count * 10 >= values.count * 6
                    && candidate.count >= candidate.values.count * 2
                    && Set(candidate.values.values).count * 3 >= candidate.values.count * 2
            }
            if let best = others.keys.sorted(by: precedes).first { named.append(best) }
        }
        return named.sorted(by: precedes)
    }

    private static func precedes(_ left: InferenceMembers, _ right: InferenceMembers) -> Bool {
        if left.count != right.count { return left.count < right.count }
        return ExactText.precedes(left.joined(separator: "/"), right.joined(separator: "/"))
    }

    private static func note(
        _ value: JSONValue,
        _ members: InferenceMembers,
        _ shape: [String],
        _ candidates: inout [InferenceMembers: Candidate]
    ) {
        guard members.count < 3, let object = value.object else { return }
        for member in object.members.prefix(40) {
            let place = members + [member.name]
            switch member.value {
            case .object: note(member.value, place, shape, &candidates)
            case .string(let text): add(text, place, shape, isFit: isWord(text), &candidates)
            case .number(let number) where place.count == 1:
                add(number.text, place, shape, isFit: number.text.utf8.count <= 4, &candidates)
            default: break
            }
        }
    }

    private static func add(
        _ text: String,
        _ place: InferenceMembers,
        _ shape: [String],
        isFit: Bool,
        _ candidates: inout [InferenceMembers: Candidate]
    ) {
        var candidate = candidates[place] ?? Candidate()
        if candidates[place] == nil, candidates.count >= 1_000 { return }
        candidate.count += 1
        candidate.isFit = candidate.isFit && isFit
        if candidate.values.count <= 64 { candidate.values[text, default: []].insert(shape) }
        candidates[place] = candidate
    }

    /// The names of the outer two floors of members, sorted.
    private static func shape(of value: JSONValue) -> [String] {
        var names: [String] = []
        for member in value.object?.members.prefix(40) ?? [] {
            names.append(member.name)
            for inner in member.value.object?.members.prefix(40) ?? [] { names.append(member.name + "/" + inner.name) }
        }
        return names.sorted()
    }

    private static func isWord(_ text: String) -> Bool {
        (1...48).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x3a).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                    || "_.-".utf8.contains($0)
            }
    }

    // MARK: - Paths

    /// The pattern of a request's path: parts that are ids become `{channel}` or `*`.
    static func pattern(of path: String) -> String {
        let parts = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var (pattern, hasChannel) = ([String](), false)
        for (index, part) in parts.enumerated() {
            let before = index > 0 ? parts[index - 1] : ""
            let isBehindContainer = InferenceNames.containers.contains(InferenceNames.plain(before))
            let hasDigit = part.utf8.contains { (0x30...0x39).contains($0) }
            let isVersion = part.hasPrefix("v") && part.utf8.count <= 3
            let isID = (hasDigit && !isVersion) || part.contains("%") || (isBehindContainer && index + 1 < parts.count)
            if !isID {
                pattern.append(part)
            } else if isBehindContainer, !hasChannel {
                pattern.append("{channel}")
                hasChannel = true
            } else {
                pattern.append("*")
            }
        }
        return pattern.joined(separator: "/")
    }
}
