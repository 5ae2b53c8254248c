import Projections

/// The place of a member in the rows of one list: first an index into `StateList.members`, then member names. Valid for
/// rows of that list alone.
struct MemberPath: Sendable {
    /// The index of the first member. `place` comes one after the last member of the list.
    let slot: Int
    /// Members of the first member; empty for the member itself.
    let rest: [String]
    /// The path as the map writes it.
    let name: String

    /// Returns `nil` if rows of the list have no such member.
    ///
    /// - Parameter hasPlace: True for tables whose rows are elements of a list.
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

/// A row of a list with its members at fixed indexes, so that lookups compare no names.
struct MappedRow {
    /// The members in the list's order, then `place`; `nil` for those that the row lacks.
    private var values: [JSONValue?]

    /// Puts each member at its index. The search goes on from the last hit, because rows have nearly the list's order.
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

    /// The value at a path; `nil` if the row has none.
    subscript(path: MemberPath) -> JSONValue? {
        var value = values[path.slot]
        for name in path.rest { value = value?[name] }
        return value
    }

    /// Replaces a list by one of its elements, and `place` by the element's index.
    mutating func replace(_ path: MemberPath, by element: JSONValue, number: Int) {
        values[path.slot] = values[path.slot]?.replacing(path.rest[...], by: element)
        values[values.count - 1] = .int(number)
    }
}

extension JSONValue {
    /// A copy with another value at a path that exists.
    fileprivate func replacing(_ path: ArraySlice<String>, by value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        guard case .object(var members) = self else { return self }
        members[name] = (members[name] ?? .null).replacing(path.dropFirst(), by: value)
        return .object(members)
    }
}
