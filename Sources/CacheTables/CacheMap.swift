import Projections

/// Maps members of the state to tables and columns of a cache (`docs/cache.md`). `CacheMapReader` has checked it
/// against the state's lists, but not against a database.
///
/// It is read once and shared by threads: the one that makes rows and the one that inserts them.
package struct CacheMap: Sendable {
    /// One table. A class, so that making rows copies none of it.
    final class Table: Sendable {
        let name: String
        /// The list that the rows come from.
        let list: MappedList
        /// Members that are lists, outermost first. Each element gives a row and takes its list's place in that row.
        let each: [MemberPath]
        let columns: [CacheColumn]
        /// The `lent` of each column. Kept apart, because each row needs them and each column is an object.
        private let lent: [LentColumn?]
        /// The columns that identify a row; empty if the table's own primary key does.
        let key: [String]
        /// Conditions that a row must meet.
        let conditions: [Condition]
        let conflict: Conflict
        /// The table's line in the map, for messages.
        let line: Int

        init(
            name: String,
            list: MappedList,
            each: [MemberPath],
            columns: [CacheColumn],
            key: [String],
            conditions: [Condition],
            conflict: Conflict,
            line: Int
        ) {
            (self.name, self.list, self.each, self.columns, self.key) = (name, list, each, columns, key)
            (self.conditions, self.conflict, self.line) = (conditions, conflict, line)
            lent = columns.map(\.lent)
        }
    }

    /// A condition that a row must meet.
    struct Condition: Sendable {
        let path: MemberPath
        /// The value that the member must have; `nil` if it must only exist and not be null.
        let value: String?
        /// The line in the map, for messages.
        let line: Int
    }

    /// How a row is handled whose key the table already has: the rebuild fails, the first row stays, or the last one.
    /// `fail` is the default: two rows with one key mostly mean that the map is wrong.
    enum Conflict: String, CaseIterable, Sendable {
        case fail, ignore, replace
    }

    /// The file's name, for messages.
    let name: String
    let tables: [Table]
    /// The table that records the log and the sequence that the cache holds.
    let metaTable: String

    /// An error that names the map's file, and the line if one is at fault.
    func failure(_ reason: String, line: Int?) -> EngineError {
        EngineError("read map \"\(name)\": \(line.map { "line \($0): " } ?? "")\(reason)")
    }
}

extension CacheMap.Table {
    /// `INSERT` with a `?` for each column, in the map's order.
    var insertion: String {
        insertion(of: "VALUES (\(repeatElement("?", count: columns.count).joined(separator: ", ")))")
    }

    /// `INSERT` of the rows that `source` gives, SQL with a value for each column in the map's order.
    func insertion(of source: String) -> String {
        let names = columns.map { $0.name.quotedSQL }.joined(separator: ", ")
        let way =
            switch conflict {
            case .fail: "INSERT"
            case .ignore: "INSERT OR IGNORE"
            case .replace: "INSERT OR REPLACE"
            }
        return "\(way) INTO \(name.quotedSQL) (\(names)) \(source)"
    }

    /// Adds the table rows that one row of the list gives: one, or one for each element of its innermost list.
    ///
    /// - Parameter target: The table's number in the batch.
    func addRows(of row: ListedRow, target: Int, to batch: CellBatch) {
        if let list = each.first {
            // Hardly a row has such a list, and only elements need more than the lent row.
            guard row.value(at: list).exists else { return }
            return forEachElement(of: MappedRow(row), at: each[...]) { element in
                // Conditions may name the element, so they come last.
                guard isWanted({ element[$0] }) else { return }
                for column in columns { column.add(element, to: batch) }
                batch.endRow(target: target)
            }
        }
        guard isWanted({ row.value(at: $0) }) else { return }
        batch.addCells(of: row, lent) { columns[$0].add(MappedRow(row), to: batch) }
        batch.endRow(target: target)
    }

    /// Goes through the lists of `each`, outermost first, and calls `body` with each element of the innermost; with the row
    /// itself where there is no list.
    private func forEachElement(of row: MappedRow, at lists: ArraySlice<MemberPath>, _ body: (MappedRow) -> Void) {
        guard let path = lists.first else { return body(row) }
        for (number, element) in (row[path].json?.array ?? []).enumerated() {
            var one = row
            one.replace(path, by: element, number: number)
            forEachElement(of: one, at: lists.dropFirst(), body)
        }
    }

    /// True if a row with these values meets all conditions. Values are compared as texts, as the map writes them.
    private func isWanted(_ value: (MemberPath) -> LentValue) -> Bool {
        conditions.allSatisfy { condition in
            let found = value(condition.path)
            // Most conditions ask only whether a row has a value, which needs none made.
            guard found.exists else { return false }
            guard let value = found.json, !value.isNull else { return false }
            guard let wanted = condition.value else { return true }
            return (value.string ?? value.text) == wanted
        }
    }

    /// Why no row of a state is one of the table, for people; `nil` if the table has no conditions or its list no rows.
    ///
    /// Cost: a walk over the rows of the list.
    func reasonForNoRow(in state: borrowing LogState, of map: CacheMap) -> String? {
        guard !conditions.isEmpty, case .state(let list) = list else { return nil }
        var count = 0
        var seen = conditions.map { _ in [String]() }
        state.forEachListedRow(of: list, asOf: CacheMeta.asOf(state)) { row in
            forEachElement(of: MappedRow(row), at: each[...]) { element in
                count += 1
                for (index, condition) in conditions.enumerated() where seen[index].count <= Self.valuesShownMax {
                    guard let value = element[condition.path].json, !value.isNull else { continue }
                    let text = value.string ?? value.text
                    if !seen[index].contains(text) { seen[index].append(text) }
                }
            }
        }
        if count == 0 { return nil }
        for (condition, values) in zip(conditions, seen) {
            guard let wanted = condition.value else {
                if !values.isEmpty { continue }
                return reason("no row of \(list.name) has \(condition.path.name)", condition.line, map)
            }
            // There may be more values than are known here.
            if values.contains(wanted) || values.count > Self.valuesShownMax { continue }
            let others = values.map { "\"\($0)\"" }.joined(separator: ", ")
            let hint = values.isEmpty ? "no row has one" : "the values are \(others)"
            let text = "no row of \(list.name) has \(condition.path.name) \"\(wanted)\"; \(hint)"
            return reason(text, condition.line, map)
        }
        return reason("no row of \(list.name) meets its conditions", conditions.first?.line ?? line, map)
    }

    private func reason(_ text: String, _ line: Int, _ map: CacheMap) -> String {
        "map \"\(map.name)\": line \(line): table \"\(name)\" is empty: \(text)"
    }

    /// So many values of a member are told at most.
    private static let valuesShownMax = 8
}

extension String {
    /// The text as a quoted SQL identifier, safe for any content without a zero byte.
    var quotedSQL: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension CacheMap {
    /// Whether a table is filled from the events of the log.
    var hasEvents: Bool { tables.contains { $0.list == .events } }

    /// The map reduced to the tables with these names.
    func only(_ names: Set<String>) -> CacheMap {
        CacheMap(name: name, tables: tables.filter { names.contains($0.name) }, metaTable: metaTable)
    }
}

extension CacheMap.Table {
    /// Everything in the map that decides this table's rows. Line numbers are left out, so moving lines in the file
    /// changes nothing.
    var identity: [String] {
        [name, list.name, "\(conflict)"] + each.map { "each \($0.name)" } + key.map { "key \($0)" }
            + conditions.map { "where \($0.path.name) \($0.value.map { "= \($0)" } ?? "exists")" }
            + columns.flatMap(\.identity)
    }

    /// The column that stores each row's source unchanged; `nil` where the table has none. `RebuildPlan` needs it to
    /// replace the rows of one source.
    var sourceColumn: String? {
        columns.first { column in
            guard case .member(let path) = column.origin else { return false }
            return path.name == "source" && [.plain, .text].contains(column.storage)
        }?.name
    }
}

extension CacheColumn {
    /// Everything in the map that decides this column's values, its fallback included.
    fileprivate var identity: [String] {
        let origin: [String] =
            switch self.origin {
            case .member(let path): ["member \(path.name)"]
            case .constant(let value): ["constant \(value)"]
            case .template(let pieces):
                pieces.map { piece in
                    switch piece {
                    case .text(let text): "text \(text)"
                    case .member(let path): "member \(path.name)"
                    }
                }
            }
        return ["column \(name)", storage.rawValue, "\(fallback)"] + origin
    }
}
