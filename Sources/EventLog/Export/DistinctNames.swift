import JSON

/// Refuses a JSON text with an object in which a name occurs twice: two readers could take different ones for its value.
enum DistinctNames {
    /// An object or array that is open.
    private struct Level {
        let isObject: Bool
        var names: Set<[UInt8]> = []
        var isRepeated = false
    }

    /// Reads a whole text. A loop with its own stack, so that no nesting can exhaust the thread's.
    ///
    /// - Throws: `JSONError` if the bytes are not one JSON text, or a name occurs twice in an object.
    static func check(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(bytes)
        var levels: [Level] = []
        repeat {
            switch try reader.kind() {
            case .object:
                try reader.enterObject()
                levels.append(Level(isObject: true))
            case .array:
                try reader.enterArray()
                levels.append(Level(isObject: false))
            case .string, .number, .bool, .null: try reader.skip()
            }
            while !levels.isEmpty, try !hasNext(&reader, &levels[levels.count - 1]) { levels.removeLast() }
        } while !levels.isEmpty
        try reader.finish()
    }

    /// Whether another value follows in the innermost level; if not, the reader leaves that level.
    private static func hasNext(_ reader: inout JSONReader, _ level: inout Level) throws(JSONError) -> Bool {
        guard level.isObject else { return try reader.nextElement() }
        guard let name = try reader.nextMember() else {
            if level.isRepeated { throw reader.fault("a name stands twice in one object") }
            return false
        }
        if !level.names.insert(name.withUTF8 { Array($0) }).inserted { level.isRepeated = true }
        return true
    }
}
