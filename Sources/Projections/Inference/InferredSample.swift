import EventLog
import JSON
import Kinds

/// The payload of a sample: the members that a rule reads, with made-up values. Nothing that a remote sent is in it but the
/// words that name what an event is.
final class InferredSample {
    private var members: [(name: String, value: InferredSample)] = []
    private var inner: InferredSample?
    private var innerStep: InferencePath.Step?
    /// Whether the members are the places of a list.
    private var isList = false
    private var leaf: JSONValue?

    /// Puts a value at a place, unless there is one.
    func put(_ value: JSONValue, at steps: ArraySlice<InferencePath.Step>) {
        guard let step = steps.first else {
            if leaf == nil, members.isEmpty, inner == nil { leaf = value }
            return
        }
        switch step {
        case .member, .place:
            let name = step.pointerPart ?? ""
            if case .place = step { isList = true }
            let known = members.first { $0.name == name }?.value
            let next = known ?? InferredSample()
            if known == nil { members.append((name, next)) }
            next.put(value, at: steps.dropFirst())
        case .elements, .members, .json:
            let next = inner ?? InferredSample()
            (inner, innerStep) = (next, step)
            next.put(value, at: steps.dropFirst())
        }
    }

    var value: JSONValue {
        switch (inner, innerStep) {
        case (let inner?, .members?): return .object(["id-1": inner.value])
        case (let inner?, .json?): return .string(inner.value.canonicalText)
        case (let inner?, _): return .array([inner.value])
        case (nil, _): break
        }
        if members.isEmpty { return leaf ?? .object(JSONObject()) }
        if isList { return list }
        var object = JSONObject()
        for member in members { object[member.name] = member.value.value }
        return .object(object)
    }

    /// The members at their places, and null between them.
    private var list: JSONValue {
        let places = members.compactMap { member in Int(member.name).map { ($0, member.value.value) } }
        let count = min((places.map(\.0).max() ?? -1) + 1, 16)
        var elements = [JSONValue](repeating: .null, count: count)
        for (place, value) in places where elements.indices.contains(place) { elements[place] = value }
        return .array(elements)
    }

    /// The payload's bytes as its kind writes them.
    func payload(_ kind: EventKind) -> String {
        guard kind.is(.serverSentEvent) else { return value.canonicalText }
        let event = value["event"]?.string.map { "event: \($0)\n" } ?? ""
        return event + "data: \(value["data"]?.string ?? "{}")\n\n"
    }

    // MARK: - Made-up values

    /// A value for a member of a thing, of the type that the remote wrote.
    static func value(of name: String, like found: JSONValue?, _ form: DecoderTimeForm?) -> JSONValue {
        let isNumber = if case .number? = found { true } else { false }
        if let form {
            let text =
                switch form {
                case .rfc3339: "2026-01-01T00:00:00Z"
                case .milliseconds: "1767225600000"
                case .microseconds: "1767225600000000"
                case .seconds: "1767225600"
                case .secondsText: "1767225600.000001"
                }
            return isNumber ? (try? JSONValue.parse(text)) ?? .null : .string(text)
        }
        switch name {
        case "id" where isNumber: return .int(1)
        case "replyTo" where isNumber: return .int(2)
        case _ where isNumber: return .int(3)
        case "done": return .bool(true)
        case "content", "text": return .string("a text")
        default: return .string("\(name)-1")
        }
    }
}
