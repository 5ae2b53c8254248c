import JSON

/// Some rows of tables: for each column a value in the form that a database stores. Texts and bytes lie one after another
/// in one buffer, so that a row costs no allocation. The rows of each table are linked, so that a table can be asked for
/// its own.
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

    @usableFromInline
    enum Stored: BitwiseCopyable {
        case null
        case integer(Int64)
        case real(Double)
        case text(start: Int, count: Int)
        case blob(start: Int, count: Int)
    }

    /// One row: its cells, and the index of the next row of its table, negative for none.
    @usableFromInline
    struct Row: BitwiseCopyable {
        @usableFromInline let start: Int
        @usableFromInline let end: Int
        @usableFromInline var next = -1
    }

    /// The columns of a table that have a value in some row. Those behind the 64th count as such.
    package struct FilledColumns: Hashable, Sendable {
        private var bits: UInt64 = 0

        /// Notes that a column has a value.
        @inline(__always)
        fileprivate mutating func insert(_ column: Int) {
            if column < UInt64.bitWidth { bits |= 1 << UInt64(truncatingIfNeeded: column) }
        }

        package func contains(_ column: Int) -> Bool {
            column >= UInt64.bitWidth || bits >> UInt64(column) & 1 == 1
        }

        fileprivate mutating func formUnion(_ other: FilledColumns) { bits |= other.bits }
    }

    /// The rows of one table.
    package struct Target {
        /// The caller's number of the table.
        package let number: Int
        /// The index of the first row.
        package let first: Int
        fileprivate var last: Int
        package fileprivate(set) var count = 1
        package fileprivate(set) var filled: FilledColumns
    }

    /// So many rows are handed over at once.
    private static let rowsMax = 256

    private var writer = CanonicalWriter()
    private var cells: [Stored] = []
    private var rows: [Row] = []
    /// The tables that the batch has rows of, in the order of their first rows.
    private var targets: [Target] = []
    /// The index in `targets` of each table, negative for none; shorter than the last table's number at first.
    private var places: [Int] = []

    package init() {}

    package var isEmpty: Bool { rows.isEmpty }
    package var isFull: Bool { rows.count >= Self.rowsMax }

    package func removeAll() {
        writer.reset()
        cells.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
        for target in targets { places[target.number] = -1 }
        targets.removeAll(keepingCapacity: true)
    }

    /// Ends a row, whose cells were added since the last one.
    ///
    /// - Parameter target: The caller's number of the row's table, from 0 and small.
    package func endRow(target: Int) {
        let index = rows.count
        let start = rows.last?.end ?? 0
        var filled = FilledColumns()
        for index in start..<cells.count {
            if case .null = cells[index] { continue }
            filled.insert(index - start)
        }
        rows.append(Row(start: start, end: cells.count))
        while places.count <= target { places.append(-1) }
        let place = places[target]
        guard place >= 0 else {
            places[target] = targets.count
            return targets.append(Target(number: target, first: index, last: index, filled: filled))
        }
        rows[targets[place].last].next = index
        targets[place].last = index
        targets[place].count += 1
        targets[place].filled.formUnion(filled)
    }

    /// Calls `body` for each table that the batch has rows of, in the order of their first rows.
    package func forEachTarget(_ body: (Target) throws -> Void) rethrows {
        for target in targets { try body(target) }
    }

    /// Lends all rows at once.
    package func withRows<Result>(_ body: (Rows) throws -> Result) rethrows -> Result {
        try rows.withUnsafeBufferPointer { rows in
            try cells.withUnsafeBufferPointer { cells in
                try writer.withBytes { try body(Rows(rows: rows, cells: cells, bytes: $0)) }
            }
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

extension CellBatch {
    /// The rows of a batch, valid during the call that lends them. Any index may be asked for.
    package struct Rows: BitwiseCopyable {
        @usableFromInline let rows: UnsafeBufferPointer<Row>
        @usableFromInline let cells: UnsafeBufferPointer<Stored>
        @usableFromInline let bytes: UnsafeRawBufferPointer

        fileprivate init(
            rows: UnsafeBufferPointer<Row>,
            cells: UnsafeBufferPointer<Stored>,
            bytes: UnsafeRawBufferPointer
        ) {
            (self.rows, self.cells, self.bytes) = (rows, cells, bytes)
        }

        /// No rows.
        package init() {
            (rows, cells) = (UnsafeBufferPointer(start: nil, count: 0), UnsafeBufferPointer(start: nil, count: 0))
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        }

        /// Whether there is a row at an index.
        @inlinable
        package func hasRow(at index: Int) -> Bool { rows.indices.contains(index) }

        /// The index of the next row of the same table; negative behind the last one.
        @inlinable
        package func next(after index: Int) -> Int { hasRow(at: index) ? rows[index].next : -1 }

        /// The cells of a row; none for a row that does not exist.
        @inlinable
        package func cells(ofRow index: Int) -> RowCells {
            guard hasRow(at: index) else { return RowCells(stored: UnsafeBufferPointer(rebasing: cells[0..<0]), bytes) }
            let row = rows[index]
            return RowCells(stored: UnsafeBufferPointer(rebasing: cells[row.start..<row.end]), bytes)
        }
    }

    /// The cells of one row, valid as long as the rows of the batch.
    package struct RowCells: BitwiseCopyable {
        @usableFromInline let stored: UnsafeBufferPointer<Stored>
        @usableFromInline let bytes: UnsafeRawBufferPointer

        @usableFromInline
        init(stored: UnsafeBufferPointer<Stored>, _ bytes: UnsafeRawBufferPointer) {
            (self.stored, self.bytes) = (stored, bytes)
        }

        /// No cells.
        package init() {
            stored = UnsafeBufferPointer(start: nil, count: 0)
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        }

        @inlinable
        package var indices: Range<Int> { stored.indices }

        /// The cell in a column; `.null` for one that does not exist.
        @inlinable
        @inline(__always)
        package subscript(column: Int) -> Cell {
            guard indices.contains(column) else { return .null }
            switch stored[column] {
            case .null: return .null
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case .text(let start, let count):
                return .text(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
            case .blob(let start, let count):
                return .blob(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
            }
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

    /// Adds a text of digits as an integer if it is one of 64 bits, because rounding would merge ids, and any other value
    /// as it is; false, without adding, for none and for null.
    package func add(integer value: LentValue) -> Bool {
        switch value {
        case .number(let number): if let number = Int64(exactly: number) { add(number) } else { return add(value) }
        case .text, .string, .time, .value:
            guard let text = value.json?.string, let number = Int64(text) else { return add(value) }
            add(number)
        case .none, .count: return add(value)
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

    /// Adds the text that `write` writes; nothing if that returns false, without having written.
    func addText(_ write: (inout CanonicalWriter) -> Bool) -> Bool {
        let start = byteCount
        guard write(&writer) else { return false }
        cells.append(.text(start: start, count: byteCount - start))
        return true
    }

    private var byteCount: Int { writer.byteCount }
}
