import Foundation
import GRDB

/// GRDB copying the rows of one database into new tables of another, in one transaction that nothing syncs.
struct BareInsertion {
    private let source: DatabaseQueue
    private let target: DatabaseQueue

    init(from source: String, to target: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
        }
        self.source = try DatabaseQueue(path: source)
        self.target = try DatabaseQueue(path: target, configuration: configuration)
    }

    /// The seconds that it takes to make the tables, insert the rows and make what comes after them; to read the values is not counted.
    ///
    /// - Parameter tables: The tables that are copied; those of the target, full-text ones aside, where none are named.
    func seconds(
        tables: [String]? = nil,
        before: (Database) throws -> Void,
        after: (Database) throws -> Void
    ) throws -> Double {
        try source.read { source in
            try target.write { target in
                var time = try benchmark.seconds { try before(target) }
                for table in try tables ?? names(in: target) { time += try insert(table, from: source, into: target) }
                return time + (try benchmark.seconds { try after(target) })
            }
        }
    }

    private func names(in database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_search%' ESCAPE '\\'"
        )
    }

    private func insert(_ table: String, from source: Database, into target: Database) throws -> Double {
        let columns = try target.columns(in: table).map { "\"\($0.name)\"" }
        let marks = repeatElement("?", count: columns.count).joined(separator: ", ")
        let statement = try target.makeStatement(sql: "INSERT INTO \"\(table)\" VALUES (\(marks))")
        let cursor = try Row.fetchCursor(source, sql: "SELECT \(columns.joined(separator: ", ")) FROM \"\(table)\"")
        var time = 0.0
        var isAtEnd = false
        while !isAtEnd {
            var rows: [[DatabaseValue]] = []
            while rows.count < 50_000, !isAtEnd {
                guard let row = try cursor.next() else { isAtEnd = true; break }
                rows.append(Array(row.databaseValues))
            }
            time += try benchmark.seconds {
                for row in rows { try statement.execute(arguments: StatementArguments(row)) }
            }
        }
        return time
    }
}
