import Projections

extension JSONValue {
    /// The value as JSON on one line, members in their own order.
    var text: String {
        var text = ""
        append(to: &text)
        return text
    }

    /// The document as JSON with one element of its arrays a line, so that a line-wise diff shows what changed.
    var lines: String {
        switch self {
        case .array(let elements) where !elements.isEmpty: "[\n" + elements.map(\.text).joined(separator: ",\n") + "\n]"
        case .object(let object) where !object.members.isEmpty: Self.lines(of: object)
        default: text
        }
    }

    private static func lines(of object: JSONObject) -> String {
        let members = object.members.map { member in
            let hasRows = member.value.array?.contains { $0.object != nil } == true
            return "\(JSONValue.string(member.name).text):\(hasRows ? member.value.lines : member.value.text)"
        }
        return "{" + members.joined(separator: ",\n") + "}"
    }

    private func append(to text: inout String) {
        switch self {
        case .null, .bool, .number, .string: text += canonicalText
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.append(to: &text)
            }
            text += "]"
        case .object(let object):
            text += "{"
            for (index, member) in object.members.enumerated() {
                if index > 0 { text += "," }
                text += JSONValue.string(member.name).canonicalText + ":"
                member.value.append(to: &text)
            }
            text += "}"
        }
    }
}
