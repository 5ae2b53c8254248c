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
        case .value(let row): LentValue(path.names.reduce(row) { $0?[$1] })
        case .message(let message, let source, let order): path.value(in: message, source, order)
        case .entry(let entry, let source): path.value(in: entry, source)
        }
    }
}

/// The names of a member of a row and of its members, looked up once for all rows of a list.
package struct RowPath: Sendable {
    /// Never empty.
    let names: [String]
    private let message: LentMessage.Member?

    /// - Parameter names: A member, then members of members; at least one.
    package init(_ names: [String]) {
        self.names = names
        message = names.first.flatMap(LentMessage.Member.init)
    }

    private var isWhole: Bool { names.count == 1 }

    fileprivate func value(in row: LentMessage, _ source: String, _ order: String?) -> LentValue {
        guard let message else {
            guard isWhole else { return .none }
            return names[0] == "source" ? .string(source) : names[0] == "order" ? LentValue(order) : .none
        }
        if isWhole { return row[message] }
        if message == .replyTo, names.count == 2 {
            return names[1] == "id" ? row.parent?.id ?? .none : names[1] == "state" ? LentValue(row.parent?.state) : .none
        }
        return rest(of: row[message])
    }

    fileprivate func value(in entry: LentEntry, _ source: String) -> LentValue {
        switch names[0] {
        case "source": isWhole ? .string(source) : .none
        case "fields":
            isWhole ? .value(.object(entry.fields)) : names.count == 2 ? entry.field(names[1]) : rest(of: entry)
        default: isWhole ? entry[names[0]] : .none
        }
    }

    /// The value behind the first name.
    private func rest(of value: LentValue) -> LentValue {
        guard case .value(let json) = value else { return .none }
        return LentValue(names.dropFirst().reduce(json) { $0?[$1] })
    }

    private func rest(of entry: LentEntry) -> LentValue {
        guard case .value(let json) = entry.field(names[1]) else { return .none }
        return LentValue(names.dropFirst(2).reduce(json) { $0?[$1] })
    }
}

extension LentEntry {
    /// A member of the row, without those of its key's source and without `fields`.
    fileprivate subscript(name: String) -> LentValue {
        switch name {
        case "channel": channel
        case "id": id
        case "number": .count(number)
        case "sequence": .number(event.sequence.rawValue)
        case "recordedAt": LentValue(event.recordedAt)
        case "remoteTime": remoteTime
        case "change": .string(change)
        case "by": by
        default: .none
        }
    }

    fileprivate func object(source: String) -> JSONObject {
        let names = ["channel", "id", "number", "sequence", "recordedAt", "remoteTime", "change", "by"]
        var members = [JSONObject.Member(name: "source", value: .string(source))]
        for name in names {
            if let value = self[name].json { members.append(.init(name: name, value: value)) }
        }
        members.append(.init(name: "fields", value: .object(fields)))
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
