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
        // Not matched together with the path, which would copy the row.
        if let path {
            switch self {
            case .message(let message, let source, let order): return path.value(in: message, source, order)
            case .entry(let entry, let source): return path.value(in: entry, source)
            case .value: break
            }
        }
        return LentValue(names.reduce(json) { $0?[$1] })
    }
}

/// A column whose values lent rows have, stored without an intermediate value.
package struct LentColumn: BitwiseCopyable, Sendable {
    /// How values are stored; NULL where a row has none.
    package enum Form: BitwiseCopyable, Sendable {
        /// As `JSONValue.stored` has them.
        case plain
        /// Texts of digits as 64-bit integers if these fit, everything else as it is.
        case integer
        /// As JSON text, members in their own order.
        case json
    }

    fileprivate let path: RowPath
    fileprivate let form: Form

    package init(_ path: RowPath, _ form: Form) {
        (self.path, self.form) = (path, form)
    }
}

extension CellBatch {
    /// Adds a cell of a row for each column. The row is taken apart once for all of them.
    ///
    /// - Parameter other: Adds the cell of the column at an index, for those that are `nil` and for rows that are not
    ///   lent.
    package func addCells(of row: ListedRow, _ columns: [LentColumn?], other: (_ index: Int) -> Void) {
        switch row {
        case .value: for index in columns.indices { other(index) }
        case .message(let message, let source, let order):
            for index in columns.indices {
                guard let column = columns[index] else {
                    other(index)
                    continue
                }
                if case .json = column.form, column.path.isExtra {
                    if !addExtra(of: message) { addNull() }
                } else {
                    add(column.path.value(in: message, source, order), as: column.form)
                }
            }
        case .entry(let entry, let source):
            for index in columns.indices {
                guard let column = columns[index] else {
                    other(index)
                    continue
                }
                add(column.path.value(in: entry, source), as: column.form)
            }
        }
    }

    /// Adds the `extra` of a message as JSON text, as `add(json:)` does, mostly without making a value of it; false, without
    /// adding, if there is none.
    private func addExtra(of message: LentMessage) -> Bool {
        guard message.isLive, case .packed(_, _, _, _, let object)? = message.version else {
            return add(json: message[.extra])
        }
        if object.isEmpty { return false }
        return PlainObject.with(object) { plain in
            guard let plain else { return add(json: message[.extra]) }
            return addText { plain.writeExtraInOrder(to: &$0) }
        }
    }

    @inline(__always)
    private func add(_ value: LentValue, as form: LentColumn.Form) {
        let isAdded =
            switch form {
            case .plain: add(value)
            case .integer: add(integer: value)
            case .json: add(json: value)
            }
        if !isAdded { addNull() }
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

    /// Whether the value is the `extra` of a message.
    fileprivate var isExtra: Bool { if case .member(.extra)? = ofMessage { true } else { false } }

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
        case source, channel, id, number, sequence, recordedAt, remoteTime, change, by, late, version, of, fields, known
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
        case .late: late == nil ? .none : .value(.bool(true))
        case .version: late.map { .count($0.place.number) } ?? .none
        case .of: late.map { .count($0.place.count) } ?? .none
        case .known: late?.isKnown == true ? .value(.object(fields)) : .none
        case .source, .fields: .none
        }
    }

    fileprivate func object(source: String) -> JSONObject {
        var members = [JSONObject.Member(name: Member.source.rawValue, value: .string(source))]
        for member in Member.allCases {
            let value = member == .fields ? .object(fields) : self[member].json
            if let value { members.append(.init(name: member.rawValue, value: value)) }
        }
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
