import CacheTables
import Projections

/// Prints the differences between a cache and a log. `-` and `+` are meant from the log's side: what the cache lacks,
/// and what it has beyond the log.
struct CachePrinter {
    let output: StandardOutput

    /// Prints one row as text: mark, table and key, then its columns. Texts from log and cache are escaped for the
    /// terminal.
    func print(_ difference: CacheComparison.Difference) throws {
        let (mark, role): (String, Style.Role) =
            switch difference.change {
            case .missing: ("-", .removed)
            case .extra: ("+", .added)
            case .different: ("~", .changed)
            }
        let key = difference.key.map { "\($0.column)=\($0.value.json.string ?? $0.value.json.text)" }
        let name = "\(mark) \(difference.table) \(key.joined(separator: " "))"
        let word =
            switch difference.change {
            case .missing: "  (missing in the cache)"
            case .extra: "  (not in the log)"
            case .different: ""
            }
        try output.line(output.style.text(DisplayText.escaped(name), role) + output.style.text(word, .quiet))
        let printer = FieldPrinter(output: output)
        for field in difference.fields {
            // The member is named only where it says more than the column.
            let isSame = field.member == field.column
            let name = isSame || field.member.isEmpty ? field.column : "\(field.column) (\(field.member))"
            try printer.printChange(of: DisplayText.escaped(name), from: field.log?.json, to: field.cache?.json)
        }
    }

    /// One row as JSON (`docs/cli-json.md`): `a` is the value from the log, `b` the one from the cache.
    static func json(_ difference: CacheComparison.Difference) -> JSONValue {
        var key = JSONObject()
        for part in difference.key { key[part.column] = part.value.json }
        var fields = JSONObject()
        for field in difference.fields {
            fields[field.column] = .object([
                "member": .string(field.member), "a": field.log?.json, "b": field.cache?.json,
            ])
        }
        return .object([
            "table": .string(difference.table), "key": .object(key), "change": .string(difference.change.rawValue),
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
    var lines: [String] {
        tables.map { table in
            let parts = [
                (table.counts.missing, "missing"), (table.counts.extra, "extra"), (table.counts.different, "different"),
            ]
            let counts = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
            return DisplayText.escaped("\(table.name): \(counts)")
        }
    }

    /// The counts as in `docs/cli-json.md`, in the map's order.
    var json: JSONValue {
        .array(
            tables.map { table in
                .object([
                    "table": .string(table.name), "missing": .int(table.counts.missing),
                    "extra": .int(table.counts.extra), "different": .int(table.counts.different),
                ])
            }
        )
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
