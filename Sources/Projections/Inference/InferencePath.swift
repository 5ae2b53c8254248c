import JSON

/// A way from a payload to a value in it, alike for all payloads of a group.
struct InferencePath: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case member(String)
        /// Each element of an array.
        case elements
        /// Each member of an object whose names are ids.
        case members
        /// The JSON that a text holds. No loop comes behind it.
        case json
    }

    var steps: [Step] = []

    /// The loops on the way.
    var loopCount: Int { steps.count(where: Self.isLoop) }

    static func isLoop(_ step: Step) -> Bool { step == .elements || step == .members }

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

extension JSONValue {
    /// The value at members one in another; `nil` if one of them is missing.
    func value(at members: InferenceMembers) -> JSONValue? {
        var value: JSONValue? = self
        for name in members { value = value?[name] }
        return value
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
    /// The event, by its place in the sample.
    let event: Int
    let value: JSONValue
    /// The values on the way, one for each step before the object, from the payload.
    let way: [JSONValue]
}

/// Finds the objects of payloads by their paths. Bounded: eight steps deep, 200 elements of a list, 4,000 objects of a path.
struct InferenceWalk {
    static let depthMax = 8
    static let elementsMax = 200
    static let instancesMax = 4_000
    static let pathsMax = 400

    private(set) var paths: [InferencePath] = []
    private(set) var instances: [InferencePath: [InferenceInstance]] = [:]

    mutating func visit(_ value: JSONValue, event: Int) {
        visit(value, InferencePath(), [], event)
    }

    private mutating func visit(_ value: JSONValue, _ path: InferencePath, _ way: [JSONValue], _ event: Int) {
        guard path.steps.count <= Self.depthMax else { return }
        switch value {
        case .object(let object):
            note(InferenceInstance(event: event, value: value, way: way), at: path)
            if path.loopCount < 4, !path.steps.contains(.json), Self.isMap(object) {
                for member in object.members.prefix(Self.elementsMax) {
                    visit(member.value, path.adding(.members), way + [value], event)
                }
            } else {
                for member in object.members.prefix(Self.elementsMax) {
                    visit(member.value, path.adding(.member(member.name)), way + [value], event)
                }
            }
        case .array(let elements) where path.loopCount < 4 && !path.steps.contains(.json):
            for element in elements.prefix(Self.elementsMax) {
                visit(element, path.adding(.elements), way + [value], event)
            }
        case .string(let text) where text.hasPrefix("{") && path.loopCount == 0 && !path.steps.contains(.json):
            if let inner = try? JSONValue.parse(text), inner.object != nil {
                visit(inner, path.adding(.json), way + [value], event)
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
                    && member.name.utf8.contains { (0x30...0x39).contains($0) || "!@$#:".utf8.contains($0) }
            }
    }
}
