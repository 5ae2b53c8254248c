import JSON

/// Some rows of tables: for each column a value in the form that a database stores. Texts and bytes lie one after another
/// in one buffer, so that a row costs no allocation.
///
/// `@unchecked Sendable` holds because one thread at a time has a batch: it is filled, handed over, read and used again.
package final class CellBatch: RowBatch, @unchecked Sendable {
    /// The value of one column. The bytes of texts and blobs are valid until the batch is changed.
    package enum Cell {
        case null
        case integer(Int64)
        case real(Double)
        case text(UnsafeRawBufferPointer)
        case blob(UnsafeRawBufferPointer)
    }

    private enum Stored: BitwiseCopyable {
        case null
        case integer(Int64)
        case real(Double)
        case text(start: Int, count: Int)
        case blob(start: Int, count: Int)
    }

    /// So many rows are handed over at once.
    private static let rowsMax = 256

    private var writer = CanonicalWriter()
    private var cells: [Stored] = []
    private var rows: [(target: Int, end: Int)] = []

    package init() {}

    package var isEmpty: Bool { rows.isEmpty }
    package var isFull: Bool { rows.count >= Self.rowsMax }

    package func removeAll() {
        writer.reset()
        cells.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
    }

    /// Ends a row, whose cells were added since the last one.
    ///
    /// - Parameter target: The caller's number of the row's table.
    package func endRow(target: Int) {
        rows.append((target, cells.count))
    }

    /// Calls `body` with each row: its table, and the range of its cells.
    package func forEachRow(_ body: (_ target: Int, _ cells: Range<Int>) throws -> Void) rethrows {
        var start = 0
        for row in rows {
            try body(row.target, start..<row.end)
            start = row.end
        }
    }

    /// Lends a cell.
    @inline(__always)
    package func withCell<Result>(_ index: Int, _ body: (Cell) throws -> Result) rethrows -> Result {
        switch cells[index] {
        case .null: try body(.null)
        case .integer(let number): try body(.integer(number))
        case .real(let number): try body(.real(number))
        case .text(let start, let count):
            try writer.withBytes { try body(.text(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))) }
        case .blob(let start, let count):
            try writer.withBytes { try body(.blob(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))) }
        }
    }
}

// MARK: - Adding

extension CellBatch {
    package func addNull() { cells.append(.null) }

    package func add(_ number: Int64) { cells.append(.integer(number)) }

    package func add(_ number: Double) { cells.append(.real(number)) }

    package func add(blob bytes: [UInt8]) {
        let start = byteCount
        writer.raw(bytes)
        cells.append(.blob(start: start, count: bytes.count))
    }

    package func add(_ text: String) {
        let start = byteCount
        writer.raw(text)
        cells.append(.text(start: start, count: byteCount - start))
    }

    /// Adds a value as `JSONValue.stored` has it; false, without adding, for none and for null.
    package func add(_ value: LentValue) -> Bool {
        let start = byteCount
        switch value {
        case .none: return false
        case .text(let text): text.withUTF8 { writer.raw($0) }
        case .string(let text): writer.raw(text)
        case .number(let number): writer.number(number)
        case .time(let time):
            writer.time(time)
            // Without the quotes.
            cells.append(.text(start: start + 1, count: byteCount - start - 2))
            return true
        case .count(let count):
            cells.append(.integer(Int64(count)))
            return true
        case .value(let value): return add(stored: value)
        }
        cells.append(.text(start: start, count: byteCount - start))
        return true
    }

    private func add(stored value: JSONValue) -> Bool {
        switch value.stored {
        case .null: return false
        case .integer(let number): add(number)
        case .text(let text): add(text)
        }
        return true
    }

    /// Adds a value as JSON text, members in their own order; false, without adding, for none.
    package func add(json value: LentValue) -> Bool {
        guard let json = value.json else { return false }
        let start = byteCount
        writer.value(json, members: .own)
        cells.append(.text(start: start, count: byteCount - start))
        return true
    }

    private var byteCount: Int { writer.byteCount }
}
