public import GRDB
public import Projections

/// The tables of an app's cache, and how a log fills them (`docs/cache.md`).
///
/// To change the schema, an app changes `create` and `apply` as if no other version had existed, and raises `version`.
/// It needs no migration: `AppCache` builds the new tables from the log.
public protocol CacheSchema: Sendable {
    /// Raise it with every change of the methods below. A cache of another version is built again.
    var version: Int { get }

    /// Each table that the log fills, with the lists of the state that its rows come from. No other list is read.
    var tables: [String: Set<StateList>] { get }

    /// Makes the tables, in an empty database.
    func create(in database: Database) throws

    /// Writes one change of a list in `tables`.
    ///
    /// - Parameter database: In a transaction that also writes the sequence that the cache has reached.
    func apply(_ change: CacheChange, in database: Database) throws

    /// Makes indexes, triggers and full-text indexes, once all rows are written. By default does nothing.
    func finish(in database: Database) throws

    /// Copies what no log contains, such as drafts, from the cache that is about to be replaced. By default copies
    /// nothing.
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
    /// A row of a thing without rows, while a whole cache is built. It may be treated as `row`.
    case added(StateList, CacheRow)
    /// A row as it is now. It replaces an earlier row with the same key; in a history it is one entry.
    case row(StateList, CacheRow)
    /// The thing with these members has no rows any more. In a history, all of its current rows follow.
    case removed(StateList, CacheRow)
    /// The list has no rows any more. All of its current rows follow.
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
