import EventLog
import Projections

/// One column of a mapped table: the origin of its values and their storage class. A class, so that making rows copies
/// none of it.
///
/// Three steps make a value: `origin` finds it, `storage` converts it, and `fallback` takes its place if either gives
/// none.
final class CacheColumn: Sendable {
    /// Where a value comes from.
    enum Origin: Sendable {
        /// A member, or a member of a member.
        case member(MemberPath)
        /// Texts and members, joined; no value if one of the members is missing.
        case template([Piece])
        /// The same value for every row.
        case constant(SQLiteValue)
    }

    /// A part of a template.
    enum Piece: Sendable {
        case text(String)
        case member(MemberPath)
    }

    /// How a value is stored; `as` in a map.
    enum Storage: String, CaseIterable, Sendable {
        /// Numbers and truth values as numbers, texts as texts, lists and objects as JSON.
        case plain
        /// `integer` takes a text of digits as a number, and leaves other texts as they are.
        case text, integer, json
        /// A time as seconds since 1970, milliseconds since 1970, or seconds since 2001; no value for a text that is no
        /// time.
        case unix
        case unixMilliseconds = "unix-ms"
        case apple
    }

    let name: String
    let origin: Origin
    let storage: Storage
    /// Stored where a row has no value (`default` in a map). Not converted: a map writes it as the column stores it.
    let fallback: SQLiteValue
    /// The line in the map, for messages.
    let line: Int

    init(
        name: String,
        origin: Origin,
        storage: Storage = .plain,
        fallback: SQLiteValue = .null,
        line: Int
    ) {
        (self.name, self.origin, self.line) = (name, origin, line)
        (self.storage, self.fallback) = (storage, fallback)
    }

    /// The column for lent rows; `nil` where they do not have the value, or not as it is stored.
    var lent: LentColumn? {
        guard case .member(let path) = origin, let path = path.path, case .null = fallback else { return nil }
        switch storage {
        case .plain: return LentColumn(path, .plain)
        case .integer: return LentColumn(path, .integer)
        case .json: return LentColumn(path, .json)
        case .text, .unix, .unixMilliseconds, .apple: return nil
        }
    }

    /// The members that the value depends on; empty for constants.
    var paths: [MemberPath] {
        switch origin {
        case .member(let path): [path]
        case .constant: []
        case .template(let pieces):
            pieces.compactMap { if case .member(let path) = $0 { path } else { nil } }
        }
    }

    /// The value's origin, for messages.
    var originName: String {
        switch origin {
        case .member(let path): path.name
        case .constant: "a constant"
        case .template: paths.map(\.name).joined(separator: ", ")
        }
    }

    /// Adds the value for a row of the list. Depends on nothing else, so rows can be made on any thread.
    func add(_ row: MappedRow, to batch: CellBatch) {
        switch origin {
        case .constant(let value): batch.add(value)
        case .member(let path): add(row[path], to: batch)
        case .template(let pieces): add(LentValue(text: text(of: pieces, in: row)), to: batch)
        }
    }

    /// Adds the value that a row has for the column. A batch has exactly one cell for each column, whatever the row
    /// lacks.
    func add(_ value: LentValue, to batch: CellBatch) {
        if !addStored(value, to: batch) { batch.add(fallback) }
    }

    /// A template's text; `nil` if one of the members is missing.
    private func text(of pieces: [Piece], in row: MappedRow) -> String? {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let part): text += part
            case .member(let path):
                guard let value = row[path].json, !value.isNull else { return nil }
                text += value.string ?? value.text
            }
        }
        return text
    }

    /// Adds the value in the column's form; false, without adding, if it has none there.
    private func addStored(_ value: LentValue, to batch: CellBatch) -> Bool {
        switch storage {
        case .plain: return batch.add(value)
        // JSON has a null of its own, so only there it is a value.
        case .json: return batch.add(json: value)
        case .integer: return batch.add(integer: value)
        case .text, .unix, .unixMilliseconds, .apple:
            guard let value = value.json, !value.isNull else { return false }
            return add(converted: value, to: batch)
        }
    }

    /// Adds a value that a storage class converts; false, without adding, for a text that is no time.
    private func add(converted value: JSONValue, to batch: CellBatch) -> Bool {
        switch (storage, value) {
        case (.text, _): batch.add(value.string ?? value.text)
        default:
            guard let time = value.string.flatMap({ Timestamp(written: $0) }) else { return false }
            batch.add(self.time(time))
        }
        return true
    }

    /// A time in the column's unit. Whole seconds since 1970 stay integers; fractions become floating-point numbers.
    /// For times of this century a `Double` resolves microseconds, not nanoseconds.
    private func time(_ time: Timestamp) -> SQLiteValue {
        let nanoseconds = Int64(time.nanoseconds)
        switch storage {
        case .unixMilliseconds:
            let (milliseconds, isTooMuch) = time.seconds.multipliedReportingOverflow(by: 1000)
            return isTooMuch ? fallback : .integer(milliseconds &+ nanoseconds / 1_000_000)
        default:
            assert(storage == .unix || storage == .apple, "only times are stored as seconds")
            // Core Data and SwiftData count from 2001-01-01.
            let start: Int64 = storage == .apple ? 978_307_200 : 0
            let seconds = time.seconds &- start
            if nanoseconds == 0, storage == .unix { return .integer(seconds) }
            return .real(Double(seconds) + Double(nanoseconds) / 1e9)
        }
    }
}
