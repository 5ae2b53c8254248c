import EventLog
import JSON

/// Why a frame is unreadable. `reason` is in lower case and quotes only names of the frame, never its texts, because it
/// becomes an issue.
struct GatewayFault: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The members of one object of a frame or an answer, read by name and type. Borrows the payload.
///
/// A member that is missing, null or of the wrong type is a fault. The fault names the path from the frame's root, such
/// as `"d.id" is missing`. Without `isChecked`, for clients that check nothing, only ids are checked; any other member
/// of the wrong type counts as absent.
///
/// A method without a prefix requires its member, `optional…` accepts null and absence, and `stated…` requires the
/// member canonically and accepts anything without `isChecked`.
struct GatewayMembers {
    let object: ObjectView
    /// Whether a member of the wrong type is a fault. Ids are always checked.
    let isChecked: Bool
    /// The object's place in the frame, such as `d.read_states[0]`; empty for the frame itself.
    private let path: String
    /// The values of members that the object lacks.
    private let implied: [Implied]

    /// A value that counts where the object lacks a member of this name.
    struct Implied {
        let name: StaticString
        let value: ValueView
    }

    init(_ object: ObjectView, path: String, isChecked: Bool = true, implied: [Implied] = []) {
        self.object = object
        self.path = path
        self.isChecked = isChecked
        self.implied = implied
    }

    /// The value of a member, null included; `nil` if it is missing.
    subscript(name: StaticString) -> ValueView? {
        object[name] ?? implied.first { $0.name.hasSameText(as: name) }?.value
    }

    func members(_ name: StaticString) throws(GatewayFault) -> GatewayMembers {
        guard let object = try value(name).members else { throw fault(name, "is no object") }
        return GatewayMembers(object, path: place(name), isChecked: isChecked)
    }

    func optionalMembers(_ name: StaticString) throws(GatewayFault) -> GatewayMembers? {
        guard let value = optionalValue(name), isChecked || value.kind == .object else { return nil }
        return try members(name)
    }

    func id(_ name: StaticString, names: inout Names) throws(GatewayFault) -> EntityID {
        guard let id = Self.id(try value(name), names: &names) else { throw fault(name, "is no id") }
        return id
    }

    func optionalID(_ name: StaticString, names: inout Names) throws(GatewayFault) -> EntityID? {
        guard let value = optionalValue(name) else { return nil }
        return isChecked ? try id(name, names: &names) : Self.id(value, names: &names)
    }

    /// The ids of an array, in its order, repeats included; empty if it is null or missing. One element that is no id
    /// makes the whole array a fault or, without `isChecked`, is left out.
    func ids(_ name: StaticString, names: inout Names) throws(GatewayFault) -> [EntityID] {
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
    func list(_ name: StaticString) throws(GatewayFault) -> [GatewayMembers] {
        var list: [GatewayMembers] = []
        for (index, element) in try array(name).enumerated() {
            guard let object = element.members else {
                if isChecked { throw fault(name, "holds what is no object") }
                continue
            }
            list.append(GatewayMembers(object, path: "\(place(name))[\(index)]", isChecked: isChecked))
        }
        return list
    }

    /// The elements of an array; empty if it is null or missing.
    func array(_ name: StaticString) throws(GatewayFault) -> [ValueView] {
        guard let value = optionalValue(name) else { return [] }
        guard let elements = value.elements else {
            if isChecked { throw fault(name, "is no array") }
            return []
        }
        return elements
    }

    func text(_ name: StaticString) throws(GatewayFault) -> String {
        guard let text = try value(name).string else { throw fault(name, "is no text") }
        return text
    }

    /// A text, or `nil` if the member is null or missing. Without `isChecked` a number counts as its text.
    func optionalText(_ name: StaticString) throws(GatewayFault) -> String? {
        guard let value = optionalValue(name) else { return nil }
        return isChecked ? try text(name) : value.string ?? value.number.map(Self.scriptText)
    }

    /// The text that a client written in JavaScript makes of a number; whole numbers keep their digits here.
    private static func scriptText(_ number: JSONNumber) -> String {
        number.isWhole ? number.canonicalText : ScriptNumber.rounded(number)
    }

    /// A text that the remote always sends; `nil` only without `isChecked`.
    func statedText(_ name: StaticString) throws(GatewayFault) -> String? {
        isChecked ? try text(name) : try optionalText(name)
    }

    /// A whole number that the remote always sends; `nil` only without `isChecked`.
    func statedInteger(_ name: StaticString) throws(GatewayFault) -> Int64? {
        isChecked ? try integer(name) : self[name]?.digits?.int64
    }

    /// An id that the remote always sends; `nil` only without `isChecked`.
    func statedID(_ name: StaticString, names: inout Names) throws(GatewayFault) -> EntityID? {
        isChecked ? try id(name, names: &names) : try optionalID(name, names: &names)
    }

    /// A time that the remote always sends; `nil` only without `isChecked`.
    func statedTime(_ name: StaticString) throws(GatewayFault) -> Timestamp? {
        isChecked ? try time(name) : try optionalTime(name)
    }

    /// A whole number that fits 64 bits with a sign. Without `isChecked`, only the frame's own `op` and `s` are read
    /// so.
    func integer(_ name: StaticString) throws(GatewayFault) -> Int64 {
        guard let integer = try value(name).digits?.int64 else { throw fault(name, "is no whole number") }
        return integer
    }

    func optionalInteger(_ name: StaticString) throws(GatewayFault) -> Int64? {
        optionalValue(name) == nil ? nil : try integer(name)
    }

    func time(_ name: StaticString) throws(GatewayFault) -> Timestamp {
        guard let text = try value(name).text else { throw fault(name, "is no text") }
        guard let time = Self.time(text) else { throw fault(name, "is no RFC 3339 time") }
        return time
    }

    func optionalTime(_ name: StaticString) throws(GatewayFault) -> Timestamp? {
        guard let value = optionalValue(name) else { return nil }
        return isChecked ? try time(name) : value.text.flatMap(Self.time)
    }

    private static func time(_ text: JSONText) -> Timestamp? { text.withUTF8 { Timestamp(rfc3339Bytes: $0) } }

    /// The one of two synonymous names that has a value; the first if both or neither have one.
    func name(_ first: StaticString, or second: StaticString) -> StaticString {
        optionalValue(first) == nil && optionalValue(second) != nil ? second : first
    }

    /// The value of a member; `nil` if it is null or missing.
    func optionalValue(_ name: StaticString) -> ValueView? {
        guard let value = self[name], value.kind != .null else { return nil }
        return value
    }

    func fault(_ name: StaticString, _ wrong: String) -> GatewayFault {
        GatewayFault("\"\(place(name))\" \(wrong)")
    }

    private func value(_ name: StaticString) throws(GatewayFault) -> ValueView {
        guard let value = self[name] else { throw fault(name, "is missing") }
        if value.kind == .null { throw fault(name, "is null") }
        return value
    }

    private func place(_ name: StaticString) -> String { path.isEmpty ? "\(name)" : "\(path).\(name)" }

    /// The handle of a non-empty text or of a whole number from 0 on; `nil` for anything else. A number and the text of
    /// its digits are one id.
    private static func id(_ value: ValueView, names: inout Names) -> EntityID? {
        switch value.kind {
        case .string: value.text.flatMap { $0.bytes.isEmpty ? nil : names.wholeID($0) }
        case .number: value.digits?.uint64.map { names.id($0) }
        case .null, .bool, .array, .object: nil
        }
    }
}

extension StaticString {
    fileprivate func hasSameText(as other: StaticString) -> Bool {
        UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
            .isSame(UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount))
    }
}
