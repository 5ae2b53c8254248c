public import GRDB
public import Projections

/// The tables of an app's cache, and how a log fills them (`docs/cache.md`).
///
/// An app that changes its schema changes `create` and `apply` as if there had never been another version, and raises `version`. No
/// migration is written: `AppCache` builds the new tables from the log.
public protocol CacheSchema: Sendable {
    /// Raise it with every change of the methods below. A cache of another version is built anew.
    var version: Int { get }

    /// Each table that the log fills, with the lists of the state that its rows come from. No other list is walked.
    var tables: [String: Set<StateList>] { get }

    /// Makes the tables, in an empty database.
    func create(in database: Database) throws

    /// Writes one change of a list in `tables`.
    ///
    /// - Parameter database: In a transaction that also writes how far the cache has come.
    func apply(_ change: CacheChange, in database: Database) throws

    /// Makes indexes, triggers and full-text indexes, once all rows are written. Does nothing unless an app says otherwise.
    func finish(in database: Database) throws

    /// Copies what no log says, such as drafts, from the cache that is about to be replaced. Copies nothing unless an app says otherwise.
    ///
    /// - Parameters:
    ///   - old: The live database. No other connection of its pool writes meanwhile.
    ///   - new: The database that will replace it, with all of its tables.
    func carryOver(from old: Database, to new: Database) throws
}

extension CacheSchema {
    /// Does nothing.
    public func finish(in database: Database) throws {}

    /// Copies nothing.
    public func carryOver(from old: Database, to new: Database) throws {}
}

/// One change of a list of the state.
public enum CacheChange: Sendable {
    /// A row of a thing that has none yet, while a whole cache is built. It may be treated as `row`.
    case added(StateList, CacheRow)
    /// A row as it is now. It takes the place of an earlier row with the same key; of a history it is one entry.
    case row(StateList, CacheRow)
    /// The thing with these members has no rows any more. The rows of a history follow anew.
    case removed(StateList, CacheRow)
    /// The list has no rows any more. Those that exist now follow.
    case cleared(StateList)
}

/// The members of one row of a list. `StateList.members` names them.
public struct CacheRow: Sendable {
    /// The row as an object.
    public let json: JSONValue

    /// The value for a column: texts as text, numbers and truth values as numbers, lists and objects as JSON.
    public var value: DatabaseValue {
        switch json.stored {
        case .integer(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .null: .null
        }
    }

    /// The value of the member at a path, such as `content` or `replyTo.id`; NULL where the row has no such member.
    public subscript(_ path: String) -> DatabaseValue { member(path).map { CacheRow(json: $0).value } ?? .null }

    /// The list at a path; empty where the row has none.
    public func array(_ path: String) -> [CacheRow] { (member(path)?.array ?? []).map { CacheRow(json: $0) } }

    private func member(_ path: String) -> JSONValue? {
        var (value, rest) = (json, path[...])
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            guard let next = value[String(rest[..<dot])] else { return nil }
            (value, rest) = (next, rest[dot...].dropFirst())
        }
        return value[String(rest)]
    }
}
