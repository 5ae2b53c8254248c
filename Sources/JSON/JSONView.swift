/// One value of a JSON text. It is made (`value`) or compared when somebody asks; until then it is where it stands in the text.
/// Borrows the document: valid only as long as that is, which copies do not keep alive.
package struct JSONView: BitwiseCopyable {
    private let document: Unmanaged<JSONDocument>
    private let part: UnsafePointer<JSONDocument.Part>
    private let start: UnsafeRawPointer?

    init(_ document: JSONDocument) {
        (self.document, part) = (Unmanaged.passUnretained(document), UnsafePointer(document.parts))
        start = document.bytes.baseAddress
    }

    private init(_ view: JSONView, _ part: UnsafePointer<JSONDocument.Part>) {
        (document, self.part, start) = (view.document, part, view.start)
    }

    private var place: Int { document._withUnsafeGuaranteedRef { part - UnsafePointer($0.parts) } }

    private func view(at place: Int) -> JSONView {
        JSONView(self, document._withUnsafeGuaranteedRef { UnsafePointer($0.parts) + place })
    }

    /// The bytes of the value; of a text those between the quotes.
    private var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start.map { $0 + Int(part.pointee.start) }, count: Int(part.pointee.count))
    }

    /// Where the value stands in the text of its document, in bytes; of a text without the quotes.
    package var range: Range<Int> { Int(part.pointee.start)..<Int(part.pointee.start) + Int(part.pointee.count) }

    /// Whether the value is one of a document.
    package func isPart(of other: JSONDocument) -> Bool { document._withUnsafeGuaranteedRef { $0 === other } }

    package var isNull: Bool { part.pointee.kind == .null }

    /// The text; `nil` if it is none. Borrows the document.
    package var text: JSONText? {
        part.pointee.kind == .string ? JSONText(bytes: bytes, hasEscapes: part.pointee.hasEscapes) : nil
    }

    /// A text, a number in its own digits, or a truth value, borrowed; `nil` for anything else.
    package var written: JSONText? {
        switch part.pointee.kind {
        case .string, .number, .bool: JSONText(bytes: bytes, hasEscapes: part.pointee.hasEscapes)
        case .object, .array, .null: nil
        }
    }

    /// The digits of a number; `nil` if it is none. Borrows the document.
    package var digits: UnsafeRawBufferPointer? {
        part.pointee.kind == .number ? bytes : nil
    }

    /// The name of the value's type: `null`, `truth`, `number`, `text`, `list`, `object`.
    package var typeName: String {
        switch part.pointee.kind {
        case .null: "null"
        case .bool: "truth"
        case .number: "number"
        case .string: "text"
        case .array: "list"
        case .object: "object"
        }
    }

    /// The value of a member; `nil` if it is no object that has it. The last one counts where a name stands twice. Cost: O(1), but
    /// O(members) for the first of a large object.
    package func member(_ name: JSONName) -> JSONView? {
        guard part.pointee.kind == .object else { return nil }
        return document._withUnsafeGuaranteedRef { $0.member(of: place, named: name) }.map { view(at: $0) }
    }

    /// An element; `nil` if it is no array that has it. Cost: O(1), but O(elements) for the first of a long array.
    package func element(_ number: Int) -> JSONView? {
        guard part.pointee.kind == .array else { return nil }
        return document._withUnsafeGuaranteedRef { $0.element(of: place, at: number) }.map { view(at: $0) }
    }

    package var isObject: Bool { part.pointee.kind == .object }

    /// The elements; `nil` if it is no array.
    package var elements: [JSONView]? {
        guard part.pointee.kind == .array else { return nil }
        return document._withUnsafeGuaranteedRef { $0.children(of: place) }.map { view(at: $0) }
    }

    /// The members, each name once as `JSONObject` has them; `nil` if it is no object.
    package var members: [(name: String, value: JSONView)]? {
        guard part.pointee.kind == .object else { return nil }
        return document._withUnsafeGuaranteedRef { $0.members(of: place) }.map { ($0.name, view(at: $0.place)) }
    }

    /// The value as one that outlives the text. Cost: O(its bytes).
    package var value: JSONValue {
        switch part.pointee.kind {
        case .null: return .null
        case .bool: return .bool(part.pointee.count == 4)
        case .string: return .string(text?.string ?? "")
        case .number: return .number(JSONNumber(unchecked: written?.string ?? "0"))
        case .object, .array:
            // Read before, so it has no fault.
            return (try? JSONValue.parse(bytes)) ?? .null
        }
    }
}

extension JSONDocument {
    /// A text of a value that was made.
    package convenience init(_ value: JSONValue) throws(JSONError) {
        var writer = JSONWriter()
        writer.value(value)
        try self.init(copying: writer.bytes)
    }
}
