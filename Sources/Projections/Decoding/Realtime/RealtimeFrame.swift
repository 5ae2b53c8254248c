import EventLog
import JSON

/// One frame of a Phoenix channel: an object (version 1.0.0) or `[join_ref, ref, topic, event, payload]` (2.0.0).
/// Borrows the frame's bytes.
///
/// Builds no value of the whole frame. Not copyable, like its parts: copies would only count references.
struct RealtimeFrame: ~Copyable {
    enum Form {
        case message
        /// A binary frame; its first byte is its kind, 0 … 4. Row changes never come in one.
        case binary
        case malformed(String)
    }

    private(set) var form = Form.message
    /// Empty unless the frame is a message, like the other members.
    private(set) var topic = JSONText.empty
    private(set) var event = JSONText.empty
    /// Matches a reply to its request, as it is written; empty if the frame has none.
    private(set) var ref = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var payload = RealtimePayload()

    /// The protocol's own events (Phoenix channels; Supabase, "Realtime Protocol"); any other is an issue.
    static let knownEvents: Set<String> = [
        "phx_join", "phx_leave", "phx_reply", "phx_error", "phx_close", "heartbeat", "access_token", "system",
        "presence", "presence_state", "presence_diff", "broadcast", "postgres_changes",
    ]

    /// - Parameters:
    ///   - key: the log's, by which a change is hashed.
    ///   - shapes: finds the lists of columns that earlier frames had.
    init(_ bytes: UnsafeRawBufferPointer, key: FrameKey, _ shapes: inout RowShapes) {
        // No JSON text begins with such a byte.
        if let first = bytes.first, first <= 4, bytes.count > 4 {
            form = .binary
            return
        }
        var (topic, event): (JSONText?, JSONText?)
        var isWhole = true
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            switch try reader.kind() {
            case .object: try readMembers(&reader, &topic, &event, key, &shapes)
            case .array: isWhole = try readElements(&reader, &topic, &event, key, &shapes)
            default: try reader.skip()
            }
            try reader.finish()
        } catch {
            form = .malformed("not one JSON text")
            return
        }
        if let topic, let event, isWhole {
            (self.topic, self.event) = (topic, event)
        } else if isWhole {
            form = .malformed(topic == nil ? "topic is no text" : "event is no text")
        } else {
            form = .malformed("an array of another length than 5")
        }
    }

    /// Reads the form of version 1.0.0. Of a repeated member, the last counts.
    private mutating func readMembers(
        _ reader: inout JSONReader,
        _ topic: inout JSONText?,
        _ event: inout JSONText?,
        _ key: FrameKey,
        _ shapes: inout RowShapes
    ) throws(JSONError) {
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name == "topic" {
                topic = try reader.text()
            } else if name == "event" {
                event = try reader.text()
            } else if name == "payload" {
                try payload.read(&reader, key, &shapes)
            } else if name == "ref" {
                ref = try reader.written()
            } else {
                try reader.skip()
            }
        }
    }

    /// Reads the form of version 2.0.0; false for an array of another length than 5. The first two elements, `join_ref` and
    /// `ref`, match replies to requests.
    private mutating func readElements(
        _ reader: inout JSONReader,
        _ topic: inout JSONText?,
        _ event: inout JSONText?,
        _ key: FrameKey,
        _ shapes: inout RowShapes
    ) throws(JSONError) -> Bool {
        var count = 0
        try reader.enterArray()
        while try reader.nextElement() {
            switch count {
            case 1: ref = try reader.written()
            case 2: topic = try reader.text()
            case 3: event = try reader.text()
            case 4: try payload.read(&reader, key, &shapes)
            default: try reader.skip()
            }
            count += 1
        }
        return count == 5
    }
}

/// The members of a frame's payload that are read. Borrows the frame's bytes, which are known to be well-formed.
struct RealtimePayload: ~Copyable {
    /// The extension that a `system` message is about, such as `postgres_changes`; `nil` in other payloads.
    private(set) var `extension`: JSONText?
    /// `ok` or `error`, of a `system` message or a reply; `nil` in other payloads.
    private(set) var status: JSONText?
    /// The change of a row; `nil` if `data` is no object.
    private(set) var change: RealtimeRow?

    var isOK: Bool { status.map { $0 == "ok" } ?? false }
    var isError: Bool { status.map { $0 == "error" } ?? false }

    /// Reads the next value of a frame in place of what was read before.
    fileprivate mutating func read(
        _ reader: inout JSONReader,
        _ key: FrameKey,
        _ shapes: inout RowShapes
    ) throws(JSONError) {
        self = RealtimePayload()
        guard try reader.kind() == .object else { return try reader.skip() }
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name == "data" {
                change = nil
                guard try reader.kind() == .object else { try reader.skip(); continue }
                change = try RealtimeRow(&reader, key, &shapes)
            } else if name == "extension" {
                `extension` = try reader.text()
            } else if name == "status" {
                status = try reader.text()
            } else {
                try reader.skip()
            }
        }
    }
}

/// The `data` of a change of a row. Borrows the frame's bytes, which are known to be well-formed; of a repeated member,
/// the last counts.
struct RealtimeRow: ~Copyable {
    private(set) var schema: JSONText?
    /// The table as written; `nil` if it is no text.
    private(set) var table: JSONText?
    private(set) var type: JSONText?
    private(set) var committedAt: JSONText?
    /// True if an error says that values were too large to send.
    private(set) var isPartial = false
    /// The row after the change; `nil` if it is missing or no object.
    private(set) var record: RowRecord?
    /// The object of the row before the change; `nil` if it is missing or no object.
    private(set) var oldRecord: UnsafeRawBufferPointer?
    /// The names in the list of columns.
    private(set) var columns = RowShape.empty
    /// The hash of the change without `columns`, which only describe the table: that of the canonical text.
    private(set) var identity = ChangeIdentity(0)

    private init() {}

    /// Reads the next value, an object.
    fileprivate init(_ reader: inout JSONReader, _ key: FrameKey, _ shapes: inout RowShapes) throws(JSONError) {
        var members = shapes.takeRoom()
        defer { shapes.giveBack(&members) }
        let (before, start) = (reader, reader.mark)
        self.init()
        var shape = try readExpected(&reader, &members, &shapes)
        if shape == nil {
            reader = before
            members.removeAll()
            self = RealtimeRow()
            shape = try readAny(&reader, &members, &shapes)
        }
        if let shape {
            shapes.expectedChange = shape.isOrdinary ? shape : nil
            identity = identity(of: members.values, shape, key, byteCount: reader.bytes(from: start).count)
        } else {
            identity = ChangeIdentity(try key.hash(ofObject: reader.bytes(from: start), without: "columns"))
        }
    }

    /// Reads an object whose names are those of a known shape, compared instead of read: the shape; `nil` for any other, which
    /// must be read again.
    private mutating func readExpected(
        _ reader: inout JSONReader,
        _ members: inout RowShapes.Members,
        _ shapes: inout RowShapes
    ) throws(JSONError) -> RowShape? {
        guard var shape = shapes.expectedChange else { return nil }
        var otherCount = 0
        try reader.enterObject()
        while shapes.passName(&shape, at: members.values.count, &reader, &otherCount) {
            let place = members.values.count
            if place == shape.names.count { return shape }
            members.append(try read(shape.changeMembers[place], &reader, &shapes))
        }
        return nil
    }

    /// Reads any object: its shape; `nil` if a name is repeated.
    private mutating func readAny(
        _ reader: inout JSONReader,
        _ members: inout RowShapes.Members,
        _ shapes: inout RowShapes
    ) throws(JSONError) -> RowShape? {
        try reader.enterObject()
        while let name = try reader.nextMember() {
            members.append(name, try read(ChangeMember(of: name.string), &reader, &shapes))
        }
        let shape = shapes.shape(of: members)
        return members.areDistinct(in: shape) ? shape : nil
    }

    /// Reads the value of a member and returns its text.
    private mutating func read(
        _ member: ChangeMember,
        _ reader: inout JSONReader,
        _ shapes: inout RowShapes
    ) throws(JSONError) -> ValueText {
        let kind = try reader.kind()
        let start = reader.mark
        var isCanonical = false
        func text() throws(JSONError) -> JSONText? {
            guard kind == .string else { try reader.skip(); return nil }
            let text = try reader.string()
            isCanonical = !text.hasEscapes
            return text
        }
        switch member {
        case .schema: schema = try text()
        case .table: table = try text()
        case .type: type = try text()
        case .committedAt: committedAt = try text()
        case .columns: columns = try shapes.columns(&reader)
        case .errors:
            isPartial = try reader.hasTooLargeError()
            isCanonical = kind == .null
        case .record:
            record = kind == .object ? try shapes.record(&reader) : nil
            if record == nil { try reader.skip() }
        case .oldRecord: oldRecord = try reader.slice(of: .object)
        case .other: return try reader.valueText()
        }
        return ValueText(bytes: reader.bytes(from: start), isCanonical: isCanonical)
    }

    /// Whether `old_record` has a column.
    func hadColumn(_ wanted: StaticString) -> Bool {
        oldRecord.flatMap { old in
            try? old.memberValue(wanted)
        } != nil
    }

    /// Whether the table is in the schema `public`, which an absent schema means.
    var isPublic: Bool { schema.map { $0 == "public" } ?? true }

    /// The id in `record`, else the one in `old_record`; `nil` if neither is one.
    func id(_ names: inout Names) -> EntityID? { record?.id(&names) ?? oldID(&names) }

    /// The id in `old_record`; `nil` if it has none.
    func oldID(_ names: inout Names) -> EntityID? {
        oldRecord.flatMap { old in (try? old.memberValue("id")).flatMap { names.rowID($0) } }
    }

    /// - Parameters:
    ///   - values: those of the names of a shape.
    ///   - byteCount: the length of the whole object, about that of its canonical text.
    private func identity(
        of values: [ValueText],
        _ shape: RowShape,
        _ key: FrameKey,
        byteCount: Int
    ) -> ChangeIdentity {
        var text = CanonicalText(byteCount: byteCount)
        text.object(shape, without: shape.changeMembers.firstIndex(of: .columns)) { place, text in
            if shape.changeMembers[place] == .record, record?.write(to: &text) != nil { return }
            text.value(values[place])
        }
        return ChangeIdentity(text.withBytes { key.hash($0) })
    }
}

extension JSONReader {
    /// Reads a value; `nil` if it is no text.
    fileprivate mutating func text() throws(JSONError) -> JSONText? {
        if try kind() == .string { return try string() }
        try skip()
        return nil
    }

    /// Passes a value and returns its bytes, without the white space before it.
    fileprivate mutating func written() throws(JSONError) -> UnsafeRawBufferPointer {
        _ = try kind()
        return try slice()
    }

    /// Passes a value and returns its bytes; `nil` if it is of another kind.
    fileprivate mutating func slice(of wanted: Kind) throws(JSONError) -> UnsafeRawBufferPointer? {
        let found = try kind()
        let bytes = try slice()
        return found == wanted ? bytes : nil
    }

    /// Whether an array contains the error by which Supabase says that it left large values out of a record: `Error 413:
    /// Payload Too Large`.
    fileprivate mutating func hasTooLargeError() throws(JSONError) -> Bool {
        var isFound = false
        guard try kind() == .array else { try skip(); return false }
        try enterArray()
        while try nextElement() {
            guard let error = try text() else { continue }
            if error.string.utf8.starts(with: "Error 413".utf8) { isFound = true }
        }
        return isFound
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of a member's value in the text of one object; `nil` if the object lacks it. The last one counts.
    fileprivate func memberValue(_ wanted: StaticString) throws(JSONError) -> UnsafeRawBufferPointer? {
        var reader = JSONReader(self)
        var found: UnsafeRawBufferPointer?
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name == wanted { found = try reader.slice() } else { try reader.skip() }
        }
        return found
    }
}
