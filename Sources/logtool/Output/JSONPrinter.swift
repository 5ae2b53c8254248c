import Projections

extension JSONValue {
    /// The value as JSON on one line, members in their own order.
    var text: String {
        var text = ""
        append(to: &text)
        return text
    }

    /// The document with one member a line, and of arrays of objects one element a line, so that a line-wise diff
    /// shows what changed. The elements are canonical.
    var lines: String {
        guard let object, !object.members.isEmpty else { return rows(indentation: "") }
        let members = object.members.map { member in
            "\(JSONValue.string(member.name).text):\(member.value.rows(indentation: "  "))"
        }
        return "{" + members.joined(separator: ",\n ") + "}"
    }

    private func rows(indentation: String) -> String {
        guard let array, array.contains(where: { $0.object != nil }) else { return text }
        return "[" + array.map { "\n\(indentation)\($0.canonicalText)" }.joined(separator: ",") + "]"
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
