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

/// Units that one rule or step may take: events, or values within events, alike in what names their kind.
struct InferenceGroup: Sendable {
    /// A test that all of them fit.
    struct Test: Hashable, Sendable {
        enum Condition: Hashable, Sendable {
            case text(String), number(String), present, missing, null
            /// The member is there, be it null.
            case there
            /// A path of a pattern, which begins with a slash or does not.
            case path(InferencePattern, isSlashed: Bool)
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
    /// The way to each unit, from its payload.
    var base = InferencePath()
    var units: [InferenceInstance] = []
    /// The group of what the units lie in, by its place.
    var parent: Int?
    /// The ways to what is divided into groups of its own.
    var below: Set<InferencePath> = []
    /// The words that name what the units are, and what they lie in.
    private(set) var words: Set<String>

    init(key: Key, base: InferencePath = InferencePath(), outerWords: Set<String> = [], parent: Int? = nil) {
        (self.key, self.base, self.parent) = (key, base, parent)
        words = outerWords.union(InferenceNames.words(of: key.tests.flatMap(Self.names)))
    }

    private static func names(of test: Test) -> [String] {
        switch test.condition {
        case .text(let text): [text]
        case .present, .there: test.members
        case .path(let pattern, _): pattern.words
        case .number, .missing, .null: []
        }
    }

    /// The events of the units, each once, in their order.
    var events: [Int] {
        var events: [Int] = []
        for unit in units where events.last != unit.event { events.append(unit.event) }
        return events
    }

    /// How many units there are, in words.
    var count: String { "\(units.count) \(parent == nil ? "events" : "values in events")" }

    /// The value that a path in the units gives for a name, and where the path is.
    func part(_ name: String) -> InferenceValue? {
        for test in key.tests {
            if case .path(let pattern, _) = test.condition, pattern.names.contains(name) {
                return .part(base.steps.count, test.members, pattern, name)
            }
        }
        return nil
    }
}

/// Divides events into groups.
struct InferenceGrouping {
    private let events: [InferenceEvent]
    /// What tells the kinds of events apart, as `/type`.
    private let telling: InferenceTelling
    /// The members of many events, whose presence names nothing.
    private let common: Set<String>

    init(_ events: [InferenceEvent]) {
        self.events = events
        let framed = events.filter { $0.requestPath == nil }
        telling = InferenceTelling(events: framed.map(\.value))
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
            if places[key] == nil {
                if groups.count >= 256 { continue }
                places[key] = groups.count
                groups.append(InferenceGroup(key: key))
            }
            let unit = InferenceInstance(order: index * InferenceInstance.perEvent, value: event.value, way: [])
            if let place = places[key] { groups[place].units.append(unit) }
        }
        return groups
    }

    private func key(of event: InferenceEvent) -> InferenceGroup.Key {
        if let path = event.requestPath {
            return InferenceGroup.Key(kind: event.kind, path: Self.pattern(of: path), tests: [])
        }
        var tests = telling.tests(of: event.value)
        if !tests.contains(where: { $0.condition != .missing }) {
            tests = (event.value.object?.members ?? []).prefix(8).filter { !common.contains($0.name) }
                .map { .init(members: [$0.name], condition: .there) }
        }
        return InferenceGroup.Key(kind: event.kind, path: "", tests: tests)
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
