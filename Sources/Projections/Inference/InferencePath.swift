import JSON

/// A way from a payload to a value in it, alike for all payloads of a group.
struct InferencePath: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case member(String)
        /// The element at a place of a list whose elements are not alike, as `["say", {…}]`.
        case place(Int)
        /// Each element of an array.
        case elements
        /// Each member of an object whose names are ids.
        case members
        /// The JSON that a text holds.
        case json

        /// Whether steps of a decoder file behind it are one level further in.
        var isLevel: Bool { self == .elements || self == .members || self == .json }

        /// The part of a JSON Pointer that leads on; `nil` of a level.
        var pointerPart: String? {
            switch self {
            case .member(let name): name
            case .place(let place): String(place)
            case .elements, .members, .json: nil
            }
        }
    }

    var steps: [Step] = []

    /// The loops and entered texts on the way.
    var levelCount: Int { steps.count(where: \.isLevel) }

    func adding(_ step: Step) -> InferencePath { InferencePath(steps: steps + [step]) }

    func prefix(_ count: Int) -> InferencePath { InferencePath(steps: Array(steps.prefix(count))) }

    func isBelow(_ other: InferencePath) -> Bool { steps.count > other.steps.count && steps.starts(with: other.steps) }

    /// The name of the last member on the way; empty at the root.
    var lastName: String {
        for case .member(let name) in steps.reversed() { return name }
        return ""
    }
}

/// Members one in another, from an object: `["user", "id"]`.
typealias InferenceMembers = [String]

extension InferenceInstance {
    /// A value that lies in this one.
    func inside(_ value: JSONValue) -> InferenceInstance {
        InferenceInstance(order: order, value: value, way: way + [self.value], keys: keys)
    }

    /// The value that an effect with this path reads; `nil` of what is not in the payload.
    func read(_ value: InferenceValue, _ path: InferencePath) -> JSONValue? {
        switch value {
        case .place(let count, let members): return outer(count, path)?.value(at: members)
        case .key(let count):
            let place = path.prefix(count).steps.count { $0 == .members } - 1
            return keys.indices.contains(place) ? .string(keys[place]) : nil
        case .part(let count, let members, let pattern, let name):
            let text = outer(count, path)?.value(at: members)?.string
            return text.flatMap { InferencePattern.part(name, of: $0, pattern) }.map { .string($0) }
        case .path, .query, .constant, .keptChannel: return nil
        }
    }

    private func outer(_ count: Int, _ path: InferencePath) -> JSONValue? {
        count == path.steps.count ? value : way.indices.contains(count) ? way[count] : nil
    }
}

extension JSONValue {
    /// The value at members one in another, or at places of lists; `nil` if one of them is missing.
    func value(at members: InferenceMembers) -> JSONValue? {
        var value: JSONValue? = self
        for name in members { value = value?.part(name) }
        return value
    }

    private func part(_ name: String) -> JSONValue? {
        guard case .array(let elements) = self else { return self[name] }
        return Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
    }

    /// Whether it is a list that begins with a word and goes on with an object: each place has a meaning of its own.
    var isTuple: Bool {
        guard case .array(let elements) = self, (2...8).contains(elements.count) else { return false }
        guard case .string(let word)? = elements.first, InferenceNames.isWord(word) else { return false }
        return elements.contains { $0.object != nil }
    }

    /// The members of an object, or the elements of a list whose places have meanings, by their places.
    var parts: [(name: String, value: JSONValue)] {
        if case .array(let elements) = self, isTuple {
            return elements.enumerated().map { (String($0), $1) }
        }
        return object?.members.map { ($0.name, $0.value) } ?? []
    }

    /// A text or number that is not empty: what an id may be.
    var idText: String? {
        switch self {
        case .string(let text): text.isEmpty || text.utf8.count > 256 ? nil : text
        case .number(let number): number.text
        case .null, .bool, .array, .object: nil
        }
    }
}

/// One object in a payload, with what lies around it.
struct InferenceInstance: Sendable {
    /// The event by its place in the sample, times `perEvent`, and its own place among those of the event: what comes
    /// earlier has less.
    let order: Int
    let value: JSONValue
    /// The values on the way, one for each step before the object, from the payload.
    let way: [JSONValue]
    /// The names of the members that loops on the way are at.
    var keys: [String] = []

    static let perEvent = 1 << 12

    /// The event, by its place in the sample.
    var event: Int { order / Self.perEvent }
}

/// Finds the objects of payloads by their paths. Bounded: eight steps deep, 200 elements of a list, 4,000 objects of a path.
struct InferenceWalk {
    static let depthMax = 8
    static let elementsMax = 200
    static let instancesMax = 4_000
    static let pathsMax = 400
    static let levelsMax = 4

    /// The paths that the walk leaves out: their values have groups of their own.
    let skipped: Set<InferencePath>
    private(set) var paths: [InferencePath] = []
    private(set) var instances: [InferencePath: [InferenceInstance]] = [:]

    init(skipping skipped: Set<InferencePath> = []) { self.skipped = skipped }

    /// Visits what lies in a unit, and the unit itself.
    ///
    /// - Parameter base: the way to the unit.
    mutating func visit(_ unit: InferenceInstance, at base: InferencePath) { visit(unit, base, base.steps.count) }

    private mutating func visit(_ found: InferenceInstance, _ path: InferencePath, _ base: Int) {
        guard path.steps.count <= base + Self.depthMax, !skipped.contains(path) else { return }
        let isShallow = path.levelCount < Self.levelsMax
        switch found.value {
        case .object(let object):
            note(found, at: path)
            let isMap = isShallow && Self.isMap(object)
            for member in object.members.prefix(Self.elementsMax) {
                var next = found.inside(member.value)
                if isMap { next.keys.append(member.name) }
                visit(next, path.adding(isMap ? .members : .member(member.name)), base)
            }
        case .array(let elements) where found.value.isTuple:
            note(found, at: path)
            for (place, element) in elements.enumerated() {
                visit(found.inside(element), path.adding(.place(place)), base)
            }
        case .array(let elements) where isShallow:
            for element in elements.prefix(Self.elementsMax) {
                visit(found.inside(element), path.adding(.elements), base)
            }
        case .string(let text) where isShallow && text.hasPrefix("{") && !path.steps.contains(.json):
            if let inner = try? JSONValue.parse(text), inner.object != nil {
                visit(found.inside(inner), path.adding(.json), base)
            }
        default: break
        }
    }

    private mutating func note(_ instance: InferenceInstance, at path: InferencePath) {
        guard let count = instances[path]?.count else {
            if paths.count >= Self.pathsMax { return }
            paths.append(path)
            return instances[path] = [instance]
        }
        if count < Self.instancesMax { instances[path]?.append(instance) }
    }

    /// Whether an object's member names are ids rather than words, and its members are objects.
    private static func isMap(_ object: JSONObject) -> Bool {
        !object.members.isEmpty
            && object.members.allSatisfy { member in
                member.value.object != nil
                    && (!InferenceNames.isWord(member.name)
                        || member.name.utf8.contains { (0x30...0x39).contains($0) || $0 == 0x3a })
            }
    }
}
