import CacheTables
import Projections

/// Prints the differences between a cache and a log.
struct CachePrinter {
    /// Which side comes first: `-` marks what only the first has, `+` what only the second has, and arrows lead from the
    /// first to the second.
    enum Way {
        /// The log first: what the cache lacks, and what it has beyond the log.
        case logToCache
        /// The cache first: the rows of the old cache that go, and the new ones that come from the log.
        case oldToNew

        /// The word of the JSON output for a row that only the log, or only the cache has, or that differs.
        func word(_ change: CacheComparison.Difference.Change) -> String {
            switch (self, change) {
            case (.logToCache, _): change.rawValue
            case (.oldToNew, .missing): "added"
            case (.oldToNew, .extra): "removed"
            case (.oldToNew, .different): "changed"
            }
        }

        /// The two values of a field, the first side's first.
        func values(_ field: CacheComparison.Difference.Field) -> (first: JSONValue?, second: JSONValue?) {
            let (log, cache) = (field.log?.json, field.cache?.json)
            return self == .logToCache ? (log, cache) : (cache, log)
        }
    }

    let output: StandardOutput
    var way = Way.logToCache

    /// Prints one row as text: mark, table and key, then its columns. Texts from log and cache are escaped for the
    /// terminal.
    func print(_ difference: CacheComparison.Difference) throws {
        let (mark, role): (String, Style.Role) =
            switch (difference.change, way) {
            case (.missing, .logToCache), (.extra, .oldToNew): ("-", .removed)
            case (.extra, .logToCache), (.missing, .oldToNew): ("+", .added)
            case (.different, _): ("~", .changed)
            }
        let key = difference.key.map { "\($0.column)=\($0.value.json.string ?? $0.value.json.text)" }
        let name = "\(mark) \(difference.table) \(key.joined(separator: " "))"
        let word =
            switch (difference.change, way) {
            case (.missing, .logToCache): "  (missing in the cache)"
            case (.extra, .logToCache): "  (not in the log)"
            default: ""
            }
        try output.line(output.style.text(DisplayText.escaped(name), role) + output.style.text(word, .quiet))
        let printer = FieldPrinter(output: output)
        for field in difference.fields {
            // The member is named only where it says more than the column.
            let isSame = field.member == field.column
            let name = isSame || field.member.isEmpty ? field.column : "\(field.column) (\(field.member))"
            let values = way.values(field)
            try printer.printChange(of: DisplayText.escaped(name), from: values.first, to: values.second)
        }
    }

    /// One row as JSON (`docs/cli-json.md`): `a` is the value of the first side, `b` that of the second.
    func json(_ difference: CacheComparison.Difference) -> JSONValue {
        var key = JSONObject()
        for part in difference.key { key[part.column] = part.value.json }
        var fields = JSONObject()
        for field in difference.fields {
            let values = way.values(field)
            fields[field.column] = .object([
                "member": .string(field.member), "a": values.first, "b": values.second,
            ])
        }
        return .object([
            "table": .string(difference.table), "key": .object(key), "change": .string(way.word(difference.change)),
            "fields": .object(fields),
        ])
    }
}

/// Counts of the differing rows, by table. Tables without differences are left out. Memory: one entry a table.
struct CacheDifferences {
    /// Counts of one table.
    struct Counts {
        var missing = 0
        var extra = 0
        var different = 0
    }

    private(set) var tables: [(name: String, counts: Counts)] = []

    /// How many rows of each table are printed when all are counted.
    static let shownMax = 3

    var isEmpty: Bool { tables.isEmpty }

    /// Counts one row. Rows must come table by table.
    ///
    /// - Returns: The row's number among the differing rows of its table, from 1.
    mutating func add(_ difference: CacheComparison.Difference) -> Int {
        if tables.last?.name != difference.table { tables.append((difference.table, Counts())) }
        let last = tables.count - 1
        switch difference.change {
        case .missing: tables[last].counts.missing += 1
        case .extra: tables[last].counts.extra += 1
        case .different: tables[last].counts.different += 1
        }
        let counts = tables[last].counts
        return counts.missing + counts.extra + counts.different
    }

    /// `messages: 1 missing, 2 different`.
    func lines(_ way: CachePrinter.Way = .logToCache) -> [String] {
        tables.map { table in
            let counts = table.counts.all.filter { $0.count > 0 }.map { "\($0.count) \(way.word($0.change))" }
            return DisplayText.escaped("\(table.name): \(counts.joined(separator: ", "))")
        }
    }

    /// The counts as in `docs/cli-json.md`, in the map's order.
    func json(_ way: CachePrinter.Way = .logToCache) -> JSONValue {
        .array(
            tables.map { table in
                var counts: JSONObject = ["table": .string(table.name)]
                for (change, count) in table.counts.all { counts[way.word(change)] = .int(count) }
                return .object(counts)
            }
        )
    }
}

extension CacheDifferences.Counts {
    fileprivate var all: [(change: CacheComparison.Difference.Change, count: Int)] {
        [(.missing, missing), (.extra, extra), (.different, different)]
    }
}

extension TableChange {
    /// The change as lines of text, such as `post: new column edited`.
    var lines: [String] {
        var found: [String] = []
        switch kind {
        case .new(let rows): found.append("new, \(Self.rows(rows))")
        case .gone(let rows): found.append("goes, \(Self.rows(rows))")
        case .counted(let before, let after, let reason):
            found.append("\(Self.rows(before)) before, \(after) after; not compared, because \(reason)")
        case .compared: break
        }
        if !newColumns.isEmpty { found.append("new \(Self.columns(newColumns))") }
        if !goneColumns.isEmpty {
            found.append("\(Self.columns(goneColumns)) \(goneColumns.count == 1 ? "goes" : "go")")
        }
        for column in retypedColumns {
            found.append("column \(column.name) becomes \(column.after), was \(column.before)")
        }
        return found.map { DisplayText.escaped("\(table): \($0)") }
    }

    /// The change as JSON.
    var json: JSONValue {
        var change: JSONObject = ["table": .string(table)]
        switch kind {
        case .new(let rows): (change["change"], change["after"]) = (.string("added"), .int(rows))
        case .gone(let rows): (change["change"], change["before"]) = (.string("removed"), .int(rows))
        case .counted(let before, let after, let reason):
            change["change"] = .string("changed")
            (change["before"], change["after"], change["reason"]) = (.int(before), .int(after), .string(reason))
        case .compared: change["change"] = .string("changed")
        }
        if !newColumns.isEmpty { change["newColumns"] = .array(newColumns.map { .string($0) }) }
        if !goneColumns.isEmpty { change["goneColumns"] = .array(goneColumns.map { .string($0) }) }
        if !retypedColumns.isEmpty {
            change["retypedColumns"] = .array(
                retypedColumns.map {
                    .object(["name": .string($0.name), "a": .string($0.before), "b": .string($0.after)])
                }
            )
        }
        return .object(change)
    }

    private static func rows(_ count: Int) -> String { "\(count) \(count == 1 ? "row" : "rows")" }

    private static func columns(_ names: [String]) -> String {
        "\(names.count == 1 ? "column" : "columns") \(names.joined(separator: ", "))"
    }
}

extension RebuildPlan.Step {
    /// The step as a line of text.
    var line: String {
        switch origin {
        case .log: "\(tableName): from the log: \(reason)"
        case .cache: "\(tableName): copied"
        case .both(let sources):
            "\(tableName): rows of \(sources.joined(separator: ", ")) from the log, others copied: \(reason)"
        }
    }

    /// The step as JSON.
    var json: JSONValue {
        var sources: JSONValue?
        let from: String
        switch origin {
        case .log: from = "log"
        case .cache: from = "cache"
        case .both(let names): (from, sources) = ("both", .array(names.map { .string($0) }))
        }
        return .object([
            "table": .string(tableName), "from": .string(from), "sources": sources, "reason": .string(reason),
        ])
    }
}
