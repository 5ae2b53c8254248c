import Clients
package import EventLog
package import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The program's own cache with the events of a log, kept with the log's derived data, for questions in SQL.
///
/// - It is in the folder of the log's derived data, so it is believed only where it was made, and goes with the generation
///   when a log is rewritten: no text that a redaction removed stays in it.
/// - One process at a time brings it up to date; any number read meanwhile, each statement one state.
/// - A file has its name only once it is complete. New events are written in one transaction a batch.
/// - Deleting it changes no answer.
package struct QueryCache {
    private let store: EventStore
    private let schema: MappedSchema
    private let keeping: KeptStateOptions?
    /// Called as the work goes on.
    package var report: (CacheWork) -> Void = { _ in }
    /// Called once if another process brings the cache up to date.
    package var waiting: () -> Void = {}
    /// Called with a sentence if the log cannot be written to, so that the cache is made for one statement alone.
    package var noted: (String) -> Void = { _ in }

    /// The lock's name in the folder of derived data.
    private static let lockName = "sql.lock"

    /// Reads nothing yet.
    package init(of store: EventStore, keeping: KeptStateOptions? = nil) throws {
        (self.store, self.keeping) = (store, keeping)
        schema = try MappedSchema.own().withEvents()
    }

    /// Brings the cache up to the log's head and calls `body` with the statement.
    ///
    /// Cost: where the cache is at the head, a few lookups; after new events a replay from the nearest kept state and
    /// their rows; else a rebuild.
    ///
    /// - Parameters:
    ///   - sql: One statement that reads.
    ///   - time: What the statement may take, without what `body` does.
    /// - Throws: `EngineError` if the statement is none, does more than read or takes too much, or if the cache cannot be
    ///   written; the errors of the log; what `body` throws.
    package func query(_ sql: String, within time: Duration, _ body: (QueryRows) throws -> Void) throws {
        let sql = try Self.single(sql)
        let folder: Folder
        do {
            folder = try derivedFolder()
        } catch let error as EventLogError where error.code == .io {
            let scratch = try ScratchFolder(in: FileManager.default.temporaryDirectory.path)
            noted("the log cannot be written to, so the tables are made for this statement alone")
            let path = scratch.path + "/sql.sqlite"
            try SQLiteConnection.telling("write the cache", path) { _ = try build(at: path) }
            return try Self.run(sql, on: SQLiteConnection(path, .querying, .query), within: time, body)
        }
        let connection = try opened(in: folder)
        try Self.run(sql, on: connection, within: time, body)
    }

    /// The folder of the derived data of the generation that is read.
    private func derivedFolder() throws -> Folder {
        for _ in 0..<3 {
            // Another process may make it at the same instant; then this one fails and finds it with the next try.
            if let folder = try? store.read({ session in try session.derivedStore().folder }) { return folder }
        }
        return try store.read { session in try session.derivedStore().folder }
    }

    /// The only statement of a text.
    private static func single(_ text: String) throws -> String {
        let statements = try SQLScript(name: "the statement", text: text).statements()
        guard let first = statements.first else {
            throw EngineError("run the SQL: there is no statement; give one SELECT")
        }
        guard statements.count == 1 else {
            throw EngineError("run the SQL: there are \(statements.count) statements; give one at a time")
        }
        return first.text
    }

    private static func run(
        _ sql: String,
        on connection: SQLiteConnection,
        within time: Duration,
        _ body: (QueryRows) throws -> Void
    ) throws {
        connection.sqlGuard?.limit(to: time)
        do {
            let statement = try connection.statement(sql)
            // The guard has refused all writes that it knows of.
            guard statement.isReadOnly else {
                throw EngineError("run the SQL: it does more than read; give one SELECT")
            }
            try body(QueryRows(statement))
        } catch let trouble as SQLiteTrouble {
            // SQLite's own message names the place; a limit says what it is.
            guard trouble.isRefusal else { throw EngineError("run the SQL: \(trouble.reason)") }
            let advice =
                connection.sqlGuard?.isDenied == true ? "only one statement that reads may run" : "ask for less"
            throw EngineError("run the SQL: it \(trouble.reason); \(advice)")
        }
    }
}

/// The rows of a statement, one after another. Valid during the call that gives it.
package final class QueryRows {
    private let statement: SQLiteStatement
    /// SQLite would begin again after the last row.
    private var isAtEnd = false
    /// The columns' names as the statement gives them; two may be the same.
    package let columns: [String]

    init(_ statement: SQLiteStatement) {
        (self.statement, columns) = (statement, statement.columnNames)
    }

    /// The values of the next row; `nil` after the last.
    package func next() throws -> [SQLiteValue]? {
        if !isAtEnd { isAtEnd = try !statement.step() }
        return isAtEnd ? nil : statement.row
    }
}

// MARK: - Keeping it current

extension QueryCache {
    /// Brings the cache in a folder up to date and opens it. It is opened while the lock is held, so that another process
    /// cannot remove it in between.
    private func opened(in folder: Folder) throws -> SQLiteConnection {
        let place = try CacheFolder(folder, lockName: Self.lockName, waiting: waiting)
        let files = try place.numberedFiles()
        if let newest = files.max(by: { $0.number < $1.number }) {
            let path = folder.path(of: newest.name)
            if try isBroughtUp(path) { return try SQLiteConnection(path, .querying, .query) }
        }
        let name = try place.nextName(after: files)
        try SQLiteConnection.telling("write the cache", folder.path(of: name)) {
            try place.make(name) { path in
                _ = try build(at: path)
                // Others read while a follower writes.
                _ = try SQLiteConnection(path, .live)
            }
        }
        try place.removeAll(files.map(\.name))
        return try SQLiteConnection(folder.path(of: name), .querying, .query)
    }

    /// Writes what new events changed; false if the file is of no use, so that another must be made.
    private func isBroughtUp(_ path: String) throws -> Bool {
        do {
            // Closed before anything is written.
            let known = try CacheMeta(SQLiteConnection(path, .querying, .reading), table: OwnSchema.metaTable)
            let revision = try rebuild.revision()
            guard let meta = known, meta.schema == schema.hash, meta.profile == rebuild.profile.rawValue else {
                return false
            }
            let end = try store.read { session in
                let identity = CacheMeta.text(ofIdentity: try session.identity())
                return identity == meta.identity && meta.canContinue(in: session) ? session.head : nil
            }
            guard let end else { return false }
            if meta.sequence == end { return true }
            var state = try rebuild.state(at: Point(meta.sequence.description))
            guard try rebuild.meta(of: &state, revision) == meta else { return false }
            var follower = try rebuild.follower(state, meta, revision, at: path)
            var isWhole = true
            while try store.read({ session in
                isWhole = try follower.continues(in: session)
                return isWhole ? try follower.step(session) : nil
            }) != nil {}
            return isWhole
        } catch let trouble as SQLiteTrouble where !trouble.isFullDisk {
            return false
        } catch let error as EngineError where error.code == .trouble {
            return false
        }
    }

    private func build(at path: String) throws -> BuiltCache {
        let rebuild = rebuild
        let revision = try rebuild.revision()
        var state = try rebuild.state()
        let meta = try rebuild.meta(of: &state, revision)
        var writer = CacheWriter(schema: schema, report: report)
        writer.events = EventSource(store: store, generation: revision.generation)
        let plan = RebuildPlan(whole: schema.map, because: "there is no cache yet")
        return BuiltCache(rows: try writer.write(state, meta: meta, to: path, by: plan), meta: meta)
    }

    /// Reads states as a rebuild does. Its file is never written.
    private var rebuild: CacheRebuild {
        var rebuild = CacheRebuild(of: store, to: Self.lockName, schema: schema, keeping: keeping)
        rebuild.report = report
        return rebuild
    }
}
