/// Writes one JSON object with one member per line, arrays with one element per line, in pieces of about 64 KiB.
///
/// The layout is that of `logtool replay --json` and of the golden files: a member's line begins with one space, an
/// element's with two. Calls must follow the grammar: members; between `beginRows` and `endRows` only rows; `end` last.
package struct DocumentLines: ~Copyable {
    private static let pieceBytes = 1 << 16
    /// The fewest rows that are worth more threads: two slices of `RowSlices`.
    private static let sharedRowsMin = 1024

    private var writer = CanonicalWriter()
    /// Gets each piece, on the calling thread, in order; the bytes are valid only during the call.
    private let body: (UnsafeRawBufferPointer) throws -> Void
    private var isFirstMember = true
    private var isFirstRow = true

    init(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.body = body
    }

    /// Writes a member; `value` must be one JSON text and is not checked.
    mutating func member(_ name: String, _ value: String) throws {
        begin(name)
        writer.raw(value)
        try flush(atLeast: Self.pieceBytes)
    }

    mutating func beginRows(_ name: String) throws {
        begin(name)
        writer.raw("[")
        isFirstRow = true
    }

    /// Writes one element; `write` must add one JSON text.
    @inline(__always)
    mutating func row(_ write: (inout CanonicalWriter) -> Void) throws {
        writer.raw(isFirstRow ? "\n  " : ",\n  ")
        isFirstRow = false
        write(&writer)
        try flush(atLeast: Self.pieceBytes)
    }

    /// Writes `count` elements; `write` must add one JSON text for each. Several threads call it at once if there are
    /// many, in any order; the elements come in the order of their indexes.
    mutating func rows(_ count: Int, _ write: @escaping @Sendable (Int, inout CanonicalWriter) -> Void) throws {
        // The first element is written here, as only this writer knows whether a comma precedes it.
        let here = count < Self.sharedRowsMin ? count : min(count, 1)
        for index in 0..<here { try row { write(index, &$0) } }
        guard here < count else { return }
        // The slices bypass `writer`, so the bytes before them go out first.
        try flush(atLeast: 1)
        try RowSlices(here..<count) { index, writer in
            writer.raw(",\n  ")
            write(index, &writer)
        }.forEach(body)
    }

    mutating func endRows() throws {
        writer.raw("]")
    }

    mutating func end() throws {
        writer.raw("}\n")
        try flush(atLeast: 1)
    }

    private mutating func begin(_ name: String) {
        writer.raw(isFirstMember ? "{" : ",\n ")
        isFirstMember = false
        writer.raw(JSONValue.string(name).canonicalText)
        writer.raw(":")
    }

    private mutating func flush(atLeast count: Int) throws {
        guard writer.withBytes({ $0.count >= count }) else { return }
        try writer.withBytes { try body($0) }
        writer.reset()
    }
}
