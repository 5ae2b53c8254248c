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
    ///
    /// - Parameter names: A member, then members of members.
    package func value(at names: [String], _ path: RowPath?) -> LentValue {
        switch (self, path) {
        case (.message(let message, let source, let order), let path?): path.value(in: message, source, order)
        case (.entry(let entry, let source), let path?): path.value(in: entry, source)
        default: LentValue(names.reduce(json) { $0?[$1] })
        }
    }

    /// Calls `body` with the value at each path, by its index; with `nil` where the value is not lent. Costs less than
    /// one look-up for each: the row is taken apart once.
    package func forEachValue(at paths: [RowPath?], _ body: (_ index: Int, _ value: LentValue?) -> Void) {
        switch self {
        case .value: for index in paths.indices { body(index, nil) }
        case .message(let message, let source, let order):
            for index in paths.indices { body(index, paths[index]?.value(in: message, source, order)) }
        case .entry(let entry, let source):
            for index in paths.indices { body(index, paths[index]?.value(in: entry, source)) }
        }
    }
}

/// A path of names that lent rows have a value for, found once for all rows of a list.
package struct RowPath: BitwiseCopyable, Sendable {
    /// A value of the row of a message.
    private enum OfMessage: BitwiseCopyable {
        case source, order, parentID, parentState
        case member(LentMessage.Member)
    }

    /// A value of the row of an entry.
    private enum OfEntry: BitwiseCopyable {
        case member(LentEntry.Member)
        case field(LentEntry.Field)
    }

    private let ofMessage: OfMessage?
    private let ofEntry: OfEntry?

    /// Returns `nil` for a path that only values have, such as a member of `extra`.
    ///
    /// - Parameter names: A member, then members of members.
    package init?(_ names: [String], in list: StateList) {
        let isWhole = names.count == 1
        switch list {
        case .section(.messages), .section(.deletedMessages):
            ofEntry = nil
            switch names {
            case ["source"]: ofMessage = .source
            case ["order"]: ofMessage = .order
            case ["replyTo", "id"]: ofMessage = .parentID
            case ["replyTo", "state"]: ofMessage = .parentState
            default:
                guard isWhole, let member = LentMessage.Member(rawValue: names[0]) else { return nil }
                ofMessage = .member(member)
            }
        case .history(.message):
            ofMessage = nil
            if isWhole, let member = LentEntry.Member(rawValue: names[0]) {
                ofEntry = .member(member)
            } else if names.count == 2, names[0] == "fields", let field = LentEntry.Field(rawValue: names[1]) {
                ofEntry = .field(field)
            } else {
                return nil
            }
        default: return nil
        }
    }

    @inline(__always)
    fileprivate func value(in row: LentMessage, _ source: String, _ order: String?) -> LentValue {
        switch ofMessage {
        case .source: .string(source)
        case .order: LentValue(order)
        case .parentID: row.parent?.id ?? .none
        case .parentState: LentValue(row.parent?.state)
        case .member(let member): row[member]
        case nil: .none
        }
    }

    @inline(__always)
    fileprivate func value(in entry: LentEntry, _ source: String) -> LentValue {
        switch ofEntry {
        case .member(.source): .string(source)
        case .member(.fields): .value(.object(entry.fields))
        case .member(let member): entry[member]
        case .field(let field): entry[field]
        case nil: .none
        }
    }
}

extension LentEntry {
    /// The members of the row of an entry, in order. The raw values are their names.
    enum Member: String, CaseIterable {
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
