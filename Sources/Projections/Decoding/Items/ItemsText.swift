import EventLog
import JSON

/// A JSON text that is a whole list: an array, or an object with `project` and `items`.
///
/// Keeps each element as its own bytes, unparsed: `TicketMemo` compares them with the last snapshot's.
struct ItemsText: Sendable {
    /// The text is no list.
    private struct NoList: Error {}

    /// The list's name; `nil` for an array.
    private(set) var project: String?
    /// The JSON texts of the elements, in order.
    private(set) var elements: [[UInt8]] = []
    /// The whole text, and where the elements lie in it.
    private var text: [UInt8] = []
    private(set) var places: [Range<Int>] = []

    /// - Throws: `JSONError` if the bytes are not one JSON text, another error if the text is no list.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        var reader = JSONReader(bytes)
        switch try reader.kind() {
        case .array: places = try Self.elements(&reader)
        case .object: try readObject(&reader)
        default: throw NoList()
        }
        try reader.finish()
        text = Array(bytes)
        elements = places.map { Array(bytes[$0]) }
    }

    /// Reads a text that differs from this one within a few elements; `nil` if it may differ elsewhere, or is no list. Only these
    /// elements are read: what is before and behind them was read with this text.
    func next(_ bytes: UnsafeRawBufferPointer) -> ItemsText? {
        text.withUnsafeBytes { next(bytes, after: $0) }
    }

    private func next(_ bytes: UnsafeRawBufferPointer, after old: UnsafeRawBufferPointer) -> ItemsText? {
        let same = bytes.commonPrefix(old)
        if same == old.count, same == bytes.count { return self }
        // The byte behind an element is compared, too: more digits would make another number.
        let first = places.partitioningIndex { $0.upperBound >= same }
        guard first < places.count, places[first].lowerBound <= same else { return nil }
        let tail = old.count - bytes.commonSuffix(old, atMost: min(bytes.count, old.count) - same)
        let last = places.partitioningIndex { $0.upperBound >= tail }
        guard last < places.count, last >= first else { return nil }
        let shift = bytes.count - old.count
        let middle = places[first].lowerBound..<places[last].upperBound + shift
        // In the same depth as in the whole text.
        let (head, end) = project == nil ? ("[", "]") : ("{\"project\":\"\",\"items\":[", "]}")
        let wrapped = Array(head.utf8) + bytes[middle] + Array(end.utf8)
        // All of it is elements of one list only if these reach from its first byte to its last.
        guard let read = try? wrapped.withUnsafeBytes({ try ItemsText($0) }), let start = read.places.first?.lowerBound,
            start == head.utf8.count, read.places.last?.upperBound == wrapped.count - end.utf8.count
        else { return nil }
        var next = self
        let offset = middle.lowerBound - head.utf8.count
        next.text = Array(bytes)
        next.elements.replaceSubrange(first...last, with: read.elements)
        next.places =
            places[..<first] + read.places.map { $0.lowerBound + offset..<$0.upperBound + offset }
            + places[(last + 1)...].map { $0.lowerBound + shift..<$0.upperBound + shift }
        return next
    }

    /// Reads an object; of a repeated name the last value counts.
    private mutating func readObject(_ reader: inout JSONReader) throws {
        var items: [Range<Int>]?
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name == "project" {
                project = try reader.kind() == .string ? try reader.string().string : nil
                if project == nil { try reader.skip() }
            } else if name == "items" {
                items = try reader.kind() == .array ? try Self.elements(&reader) : nil
                if items == nil { try reader.skip() }
            } else {
                try reader.skip()
            }
        }
        guard project != nil, let items else { throw NoList() }
        places = items
    }

    /// The places of the elements, without the white space around them. Each is checked as JSON, though not built.
    private static func elements(_ reader: inout JSONReader) throws -> [Range<Int>] {
        var elements: [Range<Int>] = []
        try reader.enterArray()
        while try reader.nextElement() {
            // Passes the white space before the element, so `offset` is its first byte.
            _ = try reader.kind()
            let start = reader.offset
            try reader.skip()
            elements.append(start..<reader.offset)
        }
        return elements
    }
}

extension UnsafeRawBufferPointer {
    /// How many bytes are the same from the beginning on.
    fileprivate func commonPrefix(_ other: UnsafeRawBufferPointer) -> Int {
        let end = Swift.min(count, other.count)
        var index = 0
        while end - index >= ByteWord.size {
            let difference = word(index) ^ other.word(index)
            if difference != 0 { return index + difference.trailingZeroBitCount / 8 }
            index += ByteWord.size
        }
        while index < end, self[index] == other[index] { index += 1 }
        return index
    }

    /// How many bytes are the same from the end on, at most so many.
    fileprivate func commonSuffix(_ other: UnsafeRawBufferPointer, atMost most: Int) -> Int {
        var length = 0
        while most - length >= ByteWord.size,
            word(count - length - ByteWord.size) == other.word(other.count - length - ByteWord.size)
        {
            length += ByteWord.size
        }
        while length < most, self[count - length - 1] == other[other.count - length - 1] { length += 1 }
        return length
    }
}
