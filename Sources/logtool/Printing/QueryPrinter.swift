import CacheTables
import Projections

/// Prints the rows of a SQL statement as they come, so that a long answer needs no memory.
struct QueryPrinter {
    enum Form {
        case list(ListForm)
        case csv
    }

    let output: StandardOutput
    let form: Form

    /// The widths of a table's columns are those of so many rows; wider values shift what follows.
    private static let measuredRows = 500
    /// The widest column, in cells of the terminal.
    private static let widthMax = 60

    func print(_ rows: QueryRows) throws {
        switch form {
        case .csv: try printTable(rows)
        case .list(.text): try printColumns(rows)
        case .list(let form): try printJSON(rows, isDocument: form == .document)
        }
        try output.flush()
    }

    /// RFC 4180, the names first. NULL is an empty cell.
    private func printTable(_ rows: QueryRows) throws {
        try output.write(CommaSeparated.line(rows.columns).utf8)
        while let row = try rows.next() {
            try output.write(CommaSeparated.line(row.map { $0.isNull ? "" : Self.text($0) }).utf8)
        }
    }

    /// An object for each row: numbers as numbers, bytes in base64.
    ///
    /// - Throws: `Failure` if two columns have one name: an object would lose one.
    private func printJSON(_ rows: QueryRows, isDocument: Bool) throws {
        var known: Set<String> = []
        for name in rows.columns where !known.insert(name).inserted {
            throw Failure("print the rows as JSON: two columns are called \"\(name)\"; name them apart with AS")
        }
        var isFirst = true
        while let row = try rows.next() {
            let members = zip(rows.columns, row).map { JSONObject.Member(name: $0, value: $1.json) }
            if isDocument { try output.write((isFirst ? "[" : ",").utf8) }
            try output.write(JSONValue.object(JSONObject(distinct: members)).text.utf8)
            if !isDocument { try output.line() }
            isFirst = false
        }
        if isDocument { try output.line(isFirst ? "[]" : "]") }
    }

    /// Columns for people, the names first, each row one line.
    private func printColumns(_ rows: QueryRows) throws {
        var measured: [[SQLiteValue]] = []
        while measured.count < Self.measuredRows, let row = try rows.next() { measured.append(row) }
        let names = rows.columns.map { DisplayText.escaped($0) }
        let texts = measured.map { $0.map(Self.shown) }
        let widths = names.indices.map { index in
            min(
                texts.reduce(DisplayText.width(of: names[index])) { max($0, DisplayText.width(of: $1[index])) },
                Self.widthMax
            )
        }
        let isNumber = names.indices.map { index in
            // NULL alone is no number.
            measured.contains { $0[index].isNumber } && measured.allSatisfy { $0[index].isNull || $0[index].isNumber }
        }
        func line(_ cells: [String]) -> String {
            let padded = cells.enumerated().map { index, cell in
                // The last column needs no spaces behind it.
                if isNumber[index] {
                    return String(repeating: " ", count: max(0, widths[index] - DisplayText.width(of: cell))) + cell
                }
                return index == cells.count - 1 ? cell : DisplayText.padded(cell, to: widths[index])
            }
            return padded.joined(separator: "  ")
        }
        try output.line(output.style.text(line(names), .heading))
        for cells in texts { try output.line(line(cells)) }
        while let row = try rows.next() { try output.line(line(row.map(Self.shown))) }
    }

    private static func shown(_ value: SQLiteValue) -> String {
        value.isNull ? "NULL" : DisplayText.escaped(text(value))
    }

    private static func text(_ value: SQLiteValue) -> String { value.json.string ?? value.json.text }
}

extension SQLiteValue {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .real: true
        case .null, .text, .blob: false
        }
    }
}
