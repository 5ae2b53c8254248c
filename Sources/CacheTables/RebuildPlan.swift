import EventLog
import Kinds
import Projections

/// Decides which tables of a new cache are made from the log and which are copied from the previous cache
/// (`docs/decisions/0026-caches-are-built-by-need.md`).
///
/// A pure decision: it reads neither the log nor the cache. `Rebuild` finds out what it is made of and carries it out.
package struct RebuildPlan {
    /// Where the rows of one table come from.
    package enum Origin: Equatable {
        /// All rows from the log.
        case log
        /// All rows from the previous cache.
        case cache
        /// Rows of these sources from the log, all others from the previous cache.
        case both([String])
    }

    /// The decision for one table.
    package struct Step {
        let table: CacheMap.Table
        package var tableName: String { table.name }
        package let origin: Origin
        /// For people: why the rows come from there.
        package let reason: String
    }

    /// The previous cache: its path and the state that it holds.
    struct Base {
        let path: String
        let meta: CacheMeta
        /// The last event that the new cache will contain.
        let end: SequenceNumber
        let revision: LogRevision
    }

    /// The cache that rows are copied from; `nil` if all tables are made from the log.
    let base: Base?
    /// One for each table of the map, in its order.
    package let steps: [Step]

    /// A plan that makes every table from the log.
    init(whole map: CacheMap, because reason: String) {
        base = nil
        steps = map.tables.map { Step(table: $0, origin: .log, reason: reason) }
    }

    /// Compares the hashes and decoder versions of a cache with today's.
    ///
    /// - Parameters:
    ///   - hashes: Today's hash of each table's SQL and map (`MappedSchema.tableHashes`).
    ///   - kinds: The kinds of event of each source, which decide whose rows a changed decoder affects.
    init(_ map: CacheMap, _ hashes: [String: String], over base: Base, kinds: [SourceName: Set<EventKind>]) {
        let decoders = base.meta.changedDecoders
        let sources = kinds.filter { source in
            source.value.contains { kind in DecoderVersion(kind: kind).map { decoders.contains($0) } ?? false }
        }.keys.map(\.rawValue).sorted()
        self.base = base
        steps = map.tables.map { table in
            guard let now = hashes[table.name] else {
                return Step(table: table, origin: .log, reason: "the schema changes its rows itself")
            }
            guard let before = base.meta.hash(ofTable: table.name) else {
                return Step(table: table, origin: .log, reason: "the cache has no such table to copy")
            }
            if now != before { return Step(table: table, origin: .log, reason: "its SQL or its map has changed") }
            // No decoder makes the rows of events.
            if sources.isEmpty || table.list == .events {
                return Step(table: table, origin: .cache, reason: "nothing has changed")
            }
            let names = decoders.map(\.rawValue).joined(separator: ", ")
            let reason = "decoder \(names) has changed"
            // Without a source column, nothing shows which rows the decoder made.
            return Step(table: table, origin: table.sourceColumn == nil ? .log : .both(sources), reason: reason)
        }
    }

    /// The names of the tables whose origin `isWanted` accepts.
    func tables(where isWanted: (Origin) -> Bool) -> Set<String> {
        Set(steps.filter { isWanted($0.origin) }.map(\.table.name))
    }

    /// The sources whose rows are made again because a decoder changed.
    var renewedSources: Set<String> {
        steps.reduce(into: []) { found, step in
            if case .both(let sources) = step.origin { found.formUnion(sources) }
        }
    }
}
