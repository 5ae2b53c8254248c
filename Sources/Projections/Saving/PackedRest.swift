import JSON

/// The members that a packed message keeps verbatim: attachments, and those that no decoder knows.
struct PackedRest {
    /// The one verbatim member that has its own field in the state.
    static let attachmentsName = "attachments"

    /// `nil` if the message has none.
    let attachments: [JSONValue]?
    let extra: JSONObject

    /// - Parameter object: the text of a JSON object; any other text reads as empty.
    init(_ object: UnsafeRawBufferPointer) {
        let members = object.isEmpty ? [] : (try? JSONValue.parse(object))?.object?.members ?? []
        attachments = members.first { $0.name == Self.attachmentsName }?.value.array
        extra = JSONObject(
            // The decoder leaves null members out (`messageExtra`), so a null member must not show here either.
            distinct: members.filter { !$0.value.isNull && $0.name != Self.attachmentsName }
        )
    }

    init(_ members: MemberRuns) {
        var bytes: [UInt8] = []
        members.appendObject(to: &bytes)
        self = bytes.withUnsafeBytes { PackedRest($0) }
    }
}
