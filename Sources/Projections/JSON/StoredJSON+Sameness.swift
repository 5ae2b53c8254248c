import JSON

extension StoredJSON {
    /// The levels that are compared without making values. Each level reads its text once more, so a limit keeps deep
    /// texts linear.
    private static let comparedLevels = 4

    /// Whether both values have the same canonical text, so that neither the order of members nor the spelling of
    /// numbers counts. Makes values only of objects with many members and of what lies deep.
    func isSame(as other: StoredJSON) -> Bool {
        withBytes { own in other.withBytes { Self.areSame(own, $0) } }
    }

    /// The same for the texts of two valid JSON values.
    @inline(__always)
    static func areSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        left.isSame(right) || areSame(left, right, levels: comparedLevels)
    }

    /// The same for another value that is an object with these members.
    func isSame(as other: StoredJSON, with members: ObjectView) -> Bool {
        withBytes { own in
            if other.withBytes({ own.isSame($0) }) { return true }
            guard own.first == UInt8(ascii: "{"), let here = try? ObjectView(own) else { return false }
            guard here.isSmall, members.isSmall else { return isSame(as: other) }
            return Self.areSameObjects(here, members, levels: Self.comparedLevels)
        }
    }

    private static func areSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, levels: Int) -> Bool {
        if left.isSame(right) { return true }
        var (here, there) = (JSONReader(left), JSONReader(right))
        guard let kind = try? here.kind(), kind == (try? there.kind()) else { return false }
        switch kind {
        case .null, .bool: return false
        case .string:
            guard let own = try? here.string(), let other = try? there.string() else { return false }
            return own.saysSame(as: other)
        case .array where levels > 0: return areSameArrays(left, right, levels: levels)
        case .object where levels > 0: return areSameObjects(left, right, levels: levels)
        case .number, .array, .object:
            return (try? JSONValue.parse(left))?.isSameJSON(as: try? JSONValue.parse(right)) ?? false
        }
    }

    private static func areSameArrays(
        _ left: UnsafeRawBufferPointer,
        _ right: UnsafeRawBufferPointer,
        levels: Int
    ) -> Bool {
        var (here, there) = (JSONReader(left), JSONReader(right))
        do throws(JSONError) {
            try here.enterArray()
            try there.enterArray()
            while true {
                let hasNext = (try here.nextElement(), try there.nextElement())
                guard hasNext == (true, true) else { return hasNext == (false, false) }
                let own = UnsafeRawBufferPointer(rebasing: left[try here.range()])
                let other = UnsafeRawBufferPointer(rebasing: right[try there.range()])
                if !areSame(own, other, levels: levels - 1) { return false }
            }
        } catch {
            return false
        }
    }

    private static func areSameObjects(
        _ left: UnsafeRawBufferPointer,
        _ right: UnsafeRawBufferPointer,
        levels: Int
    ) -> Bool {
        guard let here = try? ObjectView(left), let there = try? ObjectView(right) else { return false }
        guard here.isSmall, there.isSmall else {
            return (try? JSONValue.parse(left))?.isSameJSON(as: try? JSONValue.parse(right)) ?? false
        }
        return areSameObjects(here, there, levels: levels)
    }

    private static func areSameObjects(_ here: ObjectView, _ there: ObjectView, levels: Int) -> Bool {
        guard here.count == there.count else { return false }
        return here.allSatisfy { place, name, value in
            there.value(of: name, at: place).map { areSame(value.bytes, $0.bytes, levels: levels - 1) } ?? false
        }
    }
}
