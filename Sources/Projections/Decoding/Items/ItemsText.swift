import EventLog
import JSON

/// A JSON text that is a whole list: an array, or an object with `project` and `items`.
///
/// Keeps each element as its own bytes, unparsed: `TicketMemo` compares them with the last snapshot's.
struct ItemsText {
    /// The text is no list.
    private struct NoList: Error {}

    /// The list's name; `nil` for an array.
    private(set) var project: String?
    /// The JSON texts of the elements, in order.
    private(set) var elements: [[UInt8]] = []

    /// - Throws: `JSONError` if the bytes are not one JSON text, another error if the text is no list.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        var reader = JSONReader(bytes)
        switch try reader.kind() {
        case .array: elements = try Self.elements(bytes, &reader)
        case .object: try readObject(bytes, &reader)
        default: throw NoList()
        }
        try reader.finish()
    }

    /// Reads an object; of a repeated name the last value counts.
    private mutating func readObject(_ bytes: UnsafeRawBufferPointer, _ reader: inout JSONReader) throws {
        var items: [[UInt8]]?
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name == "project" {
                project = try reader.kind() == .string ? try reader.string().string : nil
                if project == nil { try reader.skip() }
            } else if name == "items" {
                items = try reader.kind() == .array ? try Self.elements(bytes, &reader) : nil
                if items == nil { try reader.skip() }
            } else {
                try reader.skip()
            }
        }
        guard project != nil, let items else { throw NoList() }
        elements = items
    }

    /// The bytes of each element, without the white space around it. Each is checked as JSON, though not built.
    private static func elements(_ bytes: UnsafeRawBufferPointer, _ reader: inout JSONReader) throws -> [[UInt8]] {
        var elements: [[UInt8]] = []
        try reader.enterArray()
        while try reader.nextElement() {
            // Passes the white space before the element, so `offset` is its first byte.
            _ = try reader.kind()
            let start = reader.offset
            try reader.skip()
            assert(start < reader.offset && reader.offset <= bytes.count, "an element is at least one byte of the text")
            elements.append(Array(bytes[start..<reader.offset]))
        }
        return elements
    }
}
