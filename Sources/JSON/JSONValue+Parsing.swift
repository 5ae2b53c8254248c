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
struct JSONBuilder: ~Copyable {
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
    private var values = ValueStack()

    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(JSONReader(bytes))
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
        let members = values.takeLast(count)
        guard level.isObject else { return .array(members.map(\.value)) }
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
            enter(isObject: true)
            return nil
        case .array:
            try reader.enterArray()
            enter(isObject: false)
            return nil
        case .string: return .string(try string(try reader.string()))
        case .number: return .number(try reader.number().number)
        case .bool: return .bool(try reader.bool())
        case .null:
            try reader.null()
            return .null
        }
    }

    private mutating func enter(isObject: Bool) {
        levels.append(Level(isObject: isObject, start: values.count))
    }

    /// Whether another value follows in the innermost level; if not, the reader leaves that level.
    private mutating func hasNext() throws(JSONError) -> Bool {
        let place = levels.count - 1
        guard levels[place].isObject else { return try reader.nextElement() }
        guard let name = try reader.nextMember() else { return false }
        levels[place].name = try string(name)
        return true
    }

    private func string(_ text: JSONText) throws(JSONError) -> String {
        allowsHalves ? text.string : String(decoding: try text.decoded(), as: UTF8.self)
    }
}

/// Values that are moved in and out, so that none is copied.
private struct ValueStack: ~Copyable {
    private var base: UnsafeMutablePointer<JSONObject.Member>
    private var capacity = 16
    private(set) var count = 0

    init() {
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    mutating func append(_ value: consuming JSONObject.Member) {
        if count == capacity {
            let larger = UnsafeMutablePointer<JSONObject.Member>.allocate(capacity: 2 * capacity)
            larger.moveInitialize(from: base, count: count)
            base.deallocate()
            (base, capacity) = (larger, 2 * capacity)
        }
        (base + count).initialize(to: value)
        count += 1
    }

    /// Removes the last values and returns them in order.
    mutating func takeLast(_ taken: Int) -> [JSONObject.Member] {
        assert(taken <= count, "no more values are taken than there are")
        count -= taken
        return Array(unsafeUninitializedCapacity: taken) { room, used in
            if let start = room.baseAddress { start.moveInitialize(from: base + count, count: taken) }
            used = taken
        }
    }
}
