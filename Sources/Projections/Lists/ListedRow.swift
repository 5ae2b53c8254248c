import EventLog

/// One row of a list. Messages and their histories are lent by the state, all other rows are values. Valid only during
/// the call that gives it.
package enum ListedRow {
    case value(JSONValue)
    /// `order` is the text by which the messages of a channel sort; deleted messages have none.
    case message(LentMessage, source: String, order: String?)
    case entry(LentEntry, source: String)

    /// The name of the source; `nil` if the row has none.
    package var source: String? {
        switch self {
        case .value(let row): row["source"]?.string
        case .message(_, let source, _), .entry(_, let source): source
        }
    }

    /// The row as a value, members in the order of the list.
    package var json: JSONValue {
        switch self {
        case .value(let row): return row
        case .message(let message, let source, let order):
            var members = [JSONObject.Member(name: "source", value: .string(source))] + message.object.members
            if let order { members.append(.init(name: "order", value: .string(order))) }
            return .object(JSONObject(distinct: members))
        case .entry(let entry, let source): return .object(entry.object(source: source))
        }
    }

    /// The value at a path of this row's list.
    package subscript(path: RowPath) -> LentValue {
        switch self {
        case .value(let row): path.value(in: row)
        case .message(let message, let source, let order): path.value(in: message, source, order)
        case .entry(let entry, let source): path.value(in: entry, source)
        }
    }

    /// Calls `body` with the value at each of `count` paths, by its index; with none for no path. Costs less than one
    /// look-up for each: the row is taken apart once.
    package func forEachValue(
        at count: Int,
        _ path: (_ index: Int) -> RowPath?,
        _ body: (_ index: Int, _ value: LentValue) -> Void
    ) {
        switch self {
        case .value(let row):
            for index in 0..<count { body(index, path(index)?.value(in: row) ?? .none) }
        case .message(let message, let source, let order):
            for index in 0..<count { body(index, path(index)?.value(in: message, source, order) ?? .none) }
        case .entry(let entry, let source):
            for index in 0..<count { body(index, path(index)?.value(in: entry, source) ?? .none) }
        }
    }
}

/// The names of a member of a row and of its members, looked up once for all rows of a list. A class, so that rows are
/// read without copying it.
package final class RowPath: Sendable {
    /// A member of a lent row.
    private enum Head {
        case source, order
        case message(LentMessage.Member)
        case other
    }

    private let names: [String]
    private let head: Head
    private let entryMember: LentEntry.Member?
    /// The second name as a field of an entry.
    private let field: LentEntry.Field?

    /// - Parameter names: A member, then members of members; a path without names gives no value.
    package init(_ names: [String]) {
        self.names = names
        let first = names.first ?? ""
        head =
            switch first {
            case "source": .source
            case "order": .order
            default: LentMessage.Member(rawValue: first).map { .message($0) } ?? .other
            }
        entryMember = LentEntry.Member(rawValue: first)
        field = names.count > 1 ? LentEntry.Field(rawValue: names[1]) : nil
    }

    fileprivate func value(in row: JSONValue) -> LentValue {
        LentValue(names.reduce(row) { $0?[$1] })
    }

    fileprivate func value(in row: LentMessage, _ source: String, _ order: String?) -> LentValue {
        switch head {
        case .source: names.count == 1 ? .string(source) : .none
        case .order: names.count == 1 ? LentValue(order) : .none
        case .message(let member): names.count == 1 ? row[member] : rest(of: row, member)
        case .other: .none
        }
    }

    private func rest(of row: LentMessage, _ member: LentMessage.Member) -> LentValue {
        if member == .replyTo, names.count == 2 {
            return names[1] == "id"
                ? row.parent?.id ?? .none : names[1] == "state" ? LentValue(row.parent?.state) : .none
        }
        return rest(of: row[member], behind: 1)
    }

    fileprivate func value(in entry: LentEntry, _ source: String) -> LentValue {
        guard let entryMember else { return .none }
        switch (entryMember, names.count) {
        case (.source, 1): return .string(source)
        case (.fields, 1): return .value(.object(entry.fields))
        case (.fields, let count):
            let value = field.map { entry[$0] } ?? .none
            return count == 2 ? value : rest(of: value, behind: 2)
        case (_, let count): return count == 1 ? entry[entryMember] : .none
        }
    }

    /// The value behind the first names.
    private func rest(of value: LentValue, behind count: Int) -> LentValue {
        guard case .value(let json) = value else { return .none }
        return LentValue(names.dropFirst(count).reduce(json) { $0?[$1] })
    }
}

extension LentEntry {
    /// The members of the row of an entry, in order. The raw values are their names.
    fileprivate enum Member: String, CaseIterable {
        case source, channel, id, number, sequence, recordedAt, remoteTime, change, by, fields
    }

    /// The value of a member other than `source` and `fields`.
    fileprivate subscript(member: Member) -> LentValue {
        switch member {
        case .channel: channel
        case .id: id
        case .number: .count(number)
        case .sequence: .number(event.sequence.rawValue)
        case .recordedAt: LentValue(event.recordedAt)
        case .remoteTime: remoteTime
        case .change: .string(change)
        case .by: by
        case .source, .fields: .none
        }
    }

    fileprivate func object(source: String) -> JSONObject {
        var members = [JSONObject.Member(name: Member.source.rawValue, value: .string(source))]
        for member in Member.allCases {
            if let value = self[member].json { members.append(.init(name: member.rawValue, value: value)) }
        }
        members.append(.init(name: Member.fields.rawValue, value: .object(fields)))
        return JSONObject(distinct: members)
    }
}

extension LentValue {
    /// An instant as text, whatever its year.
    fileprivate init(_ time: Timestamp) {
        self = Self.writtenYears.contains(time.seconds) ? .time(time) : .string(time.description)
    }

    /// The seconds of the years 0 to 9999, which `CanonicalWriter` writes.
    private static let writtenYears: Range<Int64> = -62_167_219_200..<253_402_300_800
}
