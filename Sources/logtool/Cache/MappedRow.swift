import Projections

/// Where a member is found in the rows of one list: the member of the row by its place in `StateList.members`, then members of it by
/// name.
struct MemberPath: Sendable {
    /// The place of the first member; after the last one, that of `place`.
    let slot: Int
    let rest: [String]
    /// As a map writes it.
    let name: String

    /// - Returns: `nil` where rows of the list have no such member.
    init?(_ name: String, in list: StateList, hasPlace: Bool) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, !parts.contains("") else { return nil }
        if let slot = list.members.firstIndex(of: first) {
            self.slot = slot
        } else if hasPlace, first == "place" {
            slot = list.members.count
        } else {
            return nil
        }
        (rest, self.name) = (Array(parts.dropFirst()), name)
    }
}

/// A row of a list, its members in the order of `StateList.members`: found without comparing names again and again.
struct MappedRow {
    private var values: [JSONValue?]

    /// Puts the members of a row in their places. Rows have them in nearly the same order as the list.
    init(_ row: JSONValue, members: [String]) {
        values = Array(repeating: nil, count: members.count + 1)
        var next = 0
        for member in row.object?.members ?? [] {
            guard let slot = Self.slot(of: member.name, in: members, from: next) else { continue }
            values[slot] = member.value
            next = slot + 1
        }
    }

    private static func slot(of name: String, in members: [String], from start: Int) -> Int? {
        for slot in start..<members.count where members[slot] == name { return slot }
        return members[..<start].firstIndex(of: name)
    }

    /// The value at a path; `nil` where there is none.
    subscript(path: MemberPath) -> JSONValue? {
        var value = values[path.slot]
        for name in path.rest { value = value?[name] }
        return value
    }

    /// Puts an element in the place of its list, and its number in that of `place`.
    mutating func replace(_ path: MemberPath, by element: JSONValue, number: Int) {
        values[path.slot] = values[path.slot]?.replacing(path.rest[...], by: element)
        values[values.count - 1] = .int(number)
    }
}

extension JSONValue {
    /// The same with another value at a path that exists.
    fileprivate func replacing(_ path: ArraySlice<String>, by value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        guard case .object(var members) = self else { return self }
        members[name] = (members[name] ?? .null).replacing(path.dropFirst(), by: value)
        return .object(members)
    }
}
