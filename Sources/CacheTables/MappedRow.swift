import Projections

/// A path to a member in the rows of one list, or in their elements. Valid for rows of that list alone. A class, so that
/// making rows copies none of it.
final class MemberPath: Sendable {
    /// The path as the map writes it.
    let name: String
    /// Where lent rows have the value; `nil` where they do not.
    let path: RowPath?
    /// True for the index of the element that a table's row is made of.
    fileprivate let isPlace: Bool
    fileprivate let names: [String]

    /// Returns `nil` if rows of the list have no such member.
    ///
    /// - Parameter hasPlace: True for tables whose rows are elements of a list.
    init?(_ name: String, in list: MappedList, hasPlace: Bool) {
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        self.names = names
        guard let first = names.first, !names.contains("") else { return nil }
        isPlace = !list.members.contains(first) && hasPlace && first == "place"
        guard isPlace || list.members.contains(first) else { return nil }
        path = isPlace ? nil : list.ofState.flatMap { RowPath(names, in: $0) }
        self.name = name
    }
}

/// A row of a list, or one of the elements that such a row contains.
///
/// The row itself is lent by the state and borrowed; only elements of lists are made as values.
struct MappedRow {
    private let row: ListedRow
    /// The row as a value with an element in its list's place, and the element's index; `nil` for the row itself.
    private var element: (row: JSONValue, number: Int)?

    init(_ row: ListedRow) {
        self.row = row
    }

    /// The value at a path; it may be null.
    subscript(path: MemberPath) -> LentValue {
        guard let element else { return row.value(at: path) }
        return path.isPlace ? .count(element.number) : ListedRow.value(element.row).value(at: path.names, nil)
    }

    /// Replaces a list by one of its elements, and `place` by the element's index.
    mutating func replace(_ path: MemberPath, by value: JSONValue, number: Int) {
        let json = element?.row ?? row.json
        element = (json.replacing(path.names[...], by: value), number)
    }
}

extension ListedRow {
    /// The value at a path of this row's list; it may be null. Only elements have a place.
    func value(at path: MemberPath) -> LentValue { path.isPlace ? .none : value(at: path.names, path.path) }
}

extension JSONValue {
    /// A copy with another value at a path that exists. Every object on the way is copied, its other members shared.
    fileprivate func replacing(_ path: ArraySlice<String>, by value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        guard case .object(var members) = self else { return self }
        members[name] = (members[name] ?? .null).replacing(path.dropFirst(), by: value)
        return .object(members)
    }
}
