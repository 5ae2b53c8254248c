extension JSONValue {
    /// Reads one JSON text (RFC 8259): strict UTF-8 without byte order mark, at most 512 levels deep.
    ///
    /// A lone surrogate in an escape becomes U+FFFD. Cost: O(bytes).
    public static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        Steps.count(bytes.count)
        var builder = JSONBuilder(bytes)
        return try builder.build()
    }

    /// Reads one JSON text, as `parse(_:)` of a buffer does.
    ///
    /// - Parameter allowsRepeatedNames: false to refuse an object in which a name occurs twice, since other programs
    ///   may read another of its values. If true, the last value counts.
    public static func parse(_ bytes: [UInt8], allowsRepeatedNames: Bool = true) throws(JSONError) -> JSONValue {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONError) in
                var builder = JSONBuilder(buffer)
                builder.allowsRepeatedNames = allowsRepeatedNames
                return try builder.build()
            }
        }
        return try result.get()
    }

    /// Reads one JSON text.
    public static func parse(_ text: String) throws(JSONError) -> JSONValue {
        var text = text
        let result = text.withUTF8 { utf8 in
            Result { () throws(JSONError) in try parse(UnsafeRawBufferPointer(utf8)) }
        }
        return try result.get()
    }
}

extension JSONValue {
    /// The deepest nesting of a text that `init(received:)` reads.
    package static let receivedDepthMax = 64

    /// Reads what a remote sends to a recorder; `nil` if it is not one RFC 8259 text, is nested too deeply, or has half a
    /// surrogate pair in an escape. Accepts a byte order mark. Bytes of strings that are not UTF-8 become replacement
    /// characters.
    ///
    /// Not for payloads on their way into the log, which stay bytes (I2).
    package init?(received bytes: [UInt8]) {
        let value = bytes.withUnsafeBytes { buffer -> JSONValue? in
            // RFC 8259, section 8.1, lets a reader ignore a byte order mark.
            let start = buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            let text = UnsafeRawBufferPointer(rebasing: buffer[start...])
            var builder = JSONBuilder(
                JSONReader(text, levelsMax: Self.receivedDepthMax, allowsAnyBytes: true)
            )
            builder.allowsHalves = false
            return try? builder.build()
        }
        guard let value else { return nil }
        self = value
    }
}

extension JSONDigits {
    /// The number as a value that owns its text.
    package var number: JSONNumber { JSONNumber(unchecked: String(decoding: bytes, as: UTF8.self)) }
}

extension JSONReader {
    /// Reads one value of any kind and passes it, in place of reading it piece by piece.
    package mutating func value() throws(JSONError) -> JSONValue {
        var builder = JSONBuilder(self)
        let value = try builder.buildNext()
        self = builder.reader
        return value
    }
}

/// Builds values in a loop with its own stack, so that no nesting can exhaust the thread's.
private struct JSONBuilder {
    /// An object or an array that is still open.
    private struct Level {
        let isObject: Bool
        /// Where its values begin in `values`.
        let start: Int
        /// The name whose value is being read; empty in an array.
        var name = ""
    }

    var allowsRepeatedNames = true
    /// Whether half a surrogate pair in an escape becomes U+FFFD; if not, it is a fault.
    var allowsHalves = true
    private(set) var reader: JSONReader
    /// The open objects and arrays, outermost first.
    private var levels: [Level] = []
    /// The values of all open levels, outermost first; those of arrays have empty names.
    private var values: [JSONObject.Member] = []

    init(_ bytes: UnsafeRawBufferPointer) {
        reader = JSONReader(bytes)
    }

    init(_ reader: JSONReader) {
        self.reader = reader
    }

    mutating func build() throws(JSONError) -> JSONValue {
        let value = try buildNext()
        try reader.finish()
        return value
    }

    mutating func buildNext() throws(JSONError) -> JSONValue {
        // `nil` while the value that begins here is an open object or array.
        var complete = try scalarOrEnter()
        while let level = levels.last {
            if let value = complete { values.append(JSONObject.Member(name: level.name, value: value)) }
            complete = try hasNext() ? try scalarOrEnter() : try close(level)
        }
        guard let complete else { throw reader.fault("the text ends too early") }
        return complete
    }

    /// Makes the value of the innermost level, which the reader has left. Its storage has no room to spare.
    private mutating func close(_ level: Level) throws(JSONError) -> JSONValue {
        levels.removeLast()
        let count = values.count - level.start
        // The values are copied out before they are removed: a slice that is still alive would make the removal copy the
        // values of all open levels.
        guard level.isObject else {
            let elements = values.suffix(count).map(\.value)
            values.removeLast(count)
            return .array(elements)
        }
        let members = Array(values.suffix(count))
        values.removeLast(count)
        let object = JSONObject(members: members)
        if !allowsRepeatedNames, object.members.count != count {
            throw reader.fault("a name stands twice in one object")
        }
        return .object(object)
    }

    /// Reads the next value if it is a scalar; otherwise enters the object or array and returns `nil`.
    private mutating func scalarOrEnter() throws(JSONError) -> JSONValue? {
        switch try reader.kind() {
        case .object:
            try reader.enterObject()
            levels.append(Level(isObject: true, start: values.count))
            return nil
        case .array:
            try reader.enterArray()
            levels.append(Level(isObject: false, start: values.count))
            return nil
        case .string: return .string(try string(try reader.string()))
        case .number: return .number(try reader.number().number)
        case .bool: return .bool(try reader.bool())
        case .null:
            try reader.null()
            return .null
        }
    }

    /// Whether another value follows in the innermost level; if not, the reader leaves that level.
    private mutating func hasNext() throws(JSONError) -> Bool {
        guard levels[levels.count - 1].isObject else { return try reader.nextElement() }
        guard let name = try reader.nextMember() else { return false }
        levels[levels.count - 1].name = try string(name)
        return true
    }

    private func string(_ text: JSONText) throws(JSONError) -> String {
        allowsHalves ? text.string : String(decoding: try text.decoded(), as: UTF8.self)
    }
}
