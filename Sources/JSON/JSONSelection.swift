/// The names of the members that somebody reads, so that a value is made of these alone (`JSONValue.parse(_:only:)`).
///
/// A name counts at any depth. Cost of asking for one: O(its bytes).
package final class JSONSelection: Sendable {
    /// How much of an object or array under a name is read.
    package enum Extent: Sendable {
        /// The members with names that are read.
        case named
        /// All members, and of their values those with names that are read.
        case members
        /// All of it.
        case whole
    }

    private struct Entry: Sendable {
        let name: String
        let extent: Extent
        /// The next entry with the same slot; -1 for none.
        let next: Int
    }

    private static let slotCount = 256

    /// The first entry of each slot; -1 for none.
    private let slots: [Int]
    private let entries: [Entry]

    /// Makes a selection of names, each with how much is read under it.
    package init(_ names: [(name: String, extent: Extent)]) {
        var slots = Array(repeating: -1, count: Self.slotCount)
        var entries: [Entry] = []
        for (name, extent) in names {
            var text = name
            let slot = text.withUTF8 { Self.slot(of: UnsafeRawBufferPointer($0)) }
            entries.append(Entry(name: name, extent: extent, next: slots[slot]))
            slots[slot] = entries.count - 1
        }
        (self.slots, self.entries) = (slots, entries)
    }

    private static func slot(of name: UnsafeRawBufferPointer) -> Int {
        guard let first = name.first, let last = name.last else { return 0 }
        let middle = name[name.count / 2]
        return (name.count &* 29 ^ Int(first) &* 7 ^ Int(middle) &* 3 ^ Int(last)) & (slotCount - 1)
    }

    /// The place of a name that is read; `nil` for any other.
    func place(of name: JSONText) -> Int? {
        if name.hasEscapes { return name.withUTF8 { place(of: $0) } }
        return place(of: name.bytes)
    }

    private func place(of name: UnsafeRawBufferPointer) -> Int? {
        var next = slots[Self.slot(of: name)]
        while next >= 0 {
            if entries[next].name.hasBytes(name.assumingMemoryBound(to: UInt8.self)) { return next }
            next = entries[next].next
        }
        return nil
    }

    /// The name at a place, as a text that was made once, and how much is read under it.
    subscript(place: Int) -> (name: String, extent: Extent) { (entries[place].name, entries[place].extent) }
}

extension JSONValue {
    /// Reads one JSON text as `parse(_:)` does, and makes a value of the members that a selection names. The others are
    /// checked and passed over. Cost: O(bytes).
    package static func parse(
        _ bytes: UnsafeRawBufferPointer,
        only selection: JSONSelection
    ) throws(JSONError) -> JSONValue {
        Steps.count(bytes.count)
        var builder = JSONBuilder(JSONReader(bytes), only: selection)
        return try builder.build()
    }
}
