import EventLog

/// Why a frame is unreadable. `reason` is in lower case and quotes only names of the frame, never its texts, because it
/// becomes an issue.
struct GatewayFault: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The members of one object of a frame, read by name and type.
///
/// A member that is missing, null or of the wrong type is a fault. The fault names the path from the frame's root, such
/// as `"d.id" is missing`. Without `isChecked`, for clients that check nothing, only ids are checked; any other member
/// of the wrong type counts as absent.
///
/// A method without a prefix requires its member, `optional…` accepts null and absence, and `stated…` requires the
/// member canonically and accepts anything without `isChecked`.
struct GatewayMembers {
    let object: JSONObject
    /// Whether a member of the wrong type is a fault. Ids are always checked.
    let isChecked: Bool
    /// The object's place in the frame, such as `d.read_states[0]`; empty for the frame itself.
    private let path: String

    init(_ object: JSONObject, path: String, isChecked: Bool = true) {
        self.object = object
        self.path = path
        self.isChecked = isChecked
    }

    func members(_ name: String) throws(GatewayFault) -> GatewayMembers {
        guard let object = try value(name).object else { throw fault(name, "is no object") }
        return GatewayMembers(object, path: place(name), isChecked: isChecked)
    }

    func optionalMembers(_ name: String) throws(GatewayFault) -> GatewayMembers? {
        guard let value = optionalValue(name), isChecked || value.object != nil else { return nil }
        return try members(name)
    }

    func id(_ name: String, names: inout Names) throws(GatewayFault) -> EntityID {
        guard let id = Self.id(try value(name), names: &names) else { throw fault(name, "is no id") }
        return id
    }

    func optionalID(_ name: String, names: inout Names) throws(GatewayFault) -> EntityID? {
        guard let value = optionalValue(name) else { return nil }
        return isChecked ? try id(name, names: &names) : Self.id(value, names: &names)
    }

    /// The ids of an array, in its order, repeats included; empty if it is null or missing. One element that is no id
    /// makes the whole array a fault or, without `isChecked`, is left out.
    func ids(_ name: String, names: inout Names) throws(GatewayFault) -> [EntityID] {
        var ids: [EntityID] = []
        for element in try array(name) {
            guard let id = Self.id(element, names: &names) else {
                if isChecked { throw fault(name, "holds what is no id") }
                continue
            }
            ids.append(id)
        }
        return ids
    }

    /// The objects of an array; empty if it is null or missing. One element that is no object makes the whole array a
    /// fault or, without `isChecked`, is left out.
    func list(_ name: String) throws(GatewayFault) -> [GatewayMembers] {
        var list: [GatewayMembers] = []
        for (index, element) in try array(name).enumerated() {
            guard let object = element.object else {
                if isChecked { throw fault(name, "holds what is no object") }
                continue
            }
            list.append(GatewayMembers(object, path: "\(place(name))[\(index)]", isChecked: isChecked))
        }
        return list
    }

    /// The elements of an array; empty if it is null or missing.
    func array(_ name: String) throws(GatewayFault) -> [JSONValue] {
        guard let value = optionalValue(name) else { return [] }
        guard let elements = value.array else {
            if isChecked { throw fault(name, "is no array") }
            return []
        }
        return elements
    }

    func text(_ name: String) throws(GatewayFault) -> String {
        guard let text = try value(name).string else { throw fault(name, "is no text") }
        return text
    }

    /// A text, or `nil` if the member is null or missing. Without `isChecked` a number counts as its text.
    func optionalText(_ name: String) throws(GatewayFault) -> String? {
        guard let value = optionalValue(name) else { return nil }
        return isChecked ? try text(name) : value.string ?? value.number?.canonicalText
    }

    /// A text that the remote always sends; `nil` only without `isChecked`.
    func statedText(_ name: String) throws(GatewayFault) -> String? {
        isChecked ? try text(name) : try optionalText(name)
    }

    /// A whole number that the remote always sends; `nil` only without `isChecked`.
    func statedInteger(_ name: String) throws(GatewayFault) -> Int64? {
        isChecked ? try integer(name) : object[name]?.number?.int64
    }

    /// An id that the remote always sends; `nil` only without `isChecked`.
    func statedID(_ name: String, names: inout Names) throws(GatewayFault) -> EntityID? {
        isChecked ? try id(name, names: &names) : try optionalID(name, names: &names)
    }

    /// A time that the remote always sends; `nil` only without `isChecked`.
    func statedTime(_ name: String) throws(GatewayFault) -> Timestamp? {
        isChecked ? try time(name) : try optionalTime(name)
    }

    /// A whole number that fits 64 bits with a sign. Without `isChecked`, only the frame's own `op` and `s` are read
    /// so.
    func integer(_ name: String) throws(GatewayFault) -> Int64 {
        guard let integer = try value(name).number?.int64 else { throw fault(name, "is no whole number") }
        return integer
    }

    func optionalInteger(_ name: String) throws(GatewayFault) -> Int64? {
        optionalValue(name) == nil ? nil : try integer(name)
    }

    func time(_ name: String) throws(GatewayFault) -> Timestamp {
        guard let time = Timestamp(rfc3339: try text(name)) else { throw fault(name, "is no RFC 3339 time") }
        return time
    }

    func optionalTime(_ name: String) throws(GatewayFault) -> Timestamp? {
        guard let value = optionalValue(name) else { return nil }
        return isChecked ? try time(name) : value.string.flatMap { Timestamp(rfc3339: $0) }
    }

    /// The one of two synonymous names that has a value; the first if both or neither have one.
    func name(_ first: String, or second: String) -> String {
        optionalValue(first) == nil && optionalValue(second) != nil ? second : first
    }

    /// The value of a member; `nil` if it is null or missing.
    func optionalValue(_ name: String) -> JSONValue? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }

    func fault(_ name: String, _ wrong: String) -> GatewayFault {
        GatewayFault("\"\(place(name))\" \(wrong)")
    }

    private func value(_ name: String) throws(GatewayFault) -> JSONValue {
        guard let value = object[name] else { throw fault(name, "is missing") }
        if value.isNull { throw fault(name, "is null") }
        return value
    }

    private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    /// The handle of a non-empty text or of a whole number from 0 on; `nil` for anything else. A number and the text of
    /// its digits are one id.
    private static func id(_ value: JSONValue, names: inout Names) -> EntityID? {
        switch value {
        case .string(let text): text.isEmpty ? nil : names.id(text)
        case .number(let number): number.uint64.map { names.id($0) }
        case .null, .bool, .array, .object: nil
        }
    }
}
