extension JSONValue {
    /// The value as JSON on one line, members in their own order.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes, members: .own)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The document with one member per line, and arrays of objects with one canonical element per line, so that a
    /// line-wise diff shows what changed. The layout of `DocumentLines`, from a value.
    package var lines: String {
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
}

extension JSONValue {
    /// The value for people to read: one member or element per line, indented by two spaces per level.
    package var indented: String { indented(by: "") }

    private func indented(by indentation: String) -> String {
        let inner = indentation + "  "
        switch self {
        case .object(let object) where !object.members.isEmpty:
            let members = object.members.map { member in
                "\(inner)\(JSONValue.string(member.name).text): \(member.value.indented(by: inner))"
            }
            return "{\n\(members.joined(separator: ",\n"))\n\(indentation)}"
        case .array(let elements) where elements.contains { $0.object != nil || $0.array != nil }:
            let lines = elements.map { inner + $0.indented(by: inner) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(indentation)]"
        default: return text
        }
    }
}
