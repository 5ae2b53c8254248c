import EventLog

/// What a gateway's frame about one message says, where it is written as the server writes them: nothing in it that a
/// packed message could not hold. What stands in it beside the members that are known is kept as it stands. Borrows the
/// frame's bytes.
struct PlainFrame: BitwiseCopyable {
    enum Happening: BitwiseCopyable {
        case written
        case deleted
    }

    var happening = Happening.written
    /// The frame's `s`; `nil` for a frame that is not counted.
    var counter: Int64?
    /// All of a counted frame.
    var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    var channel = EntityID.none
    var id = EntityID.none
    /// `EntityID.none` where the frame names no guild.
    var guild = EntityID.none
    var author: UInt64 = 0
    var authorName: JSONText?
    var content = JSONText.empty
    var createdAt = PackedTime.none
    var editedAt = PackedTime.none
    var replyTo = EntityID.none
    /// The attachments, if there are any, and the members that no decoder knows.
    var rest = MemberRuns.none

    var key: MessageKey { MessageKey(channel: channel, id: id) }
}

extension PlainFrame {
    /// The frame of an event; `nil` where the event is no inbound gateway frame, or no plain one.
    init?(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        guard envelope.kind.rawValue == GatewayDecoder.frameKind, envelope.attributes["dir"] != "out", !envelope.isAct,
            let frame = PlainFrameScanner.frame(payload)
        else { return nil }
        self = frame
    }

    /// When the remote says that the change was made; `nil` for a deletion.
    var remoteTime: Timestamp? {
        guard happening == .written else { return nil }
        return editedAt.timestamp ?? createdAt.timestamp
    }

    /// The change that the decoder reads out of such a frame.
    var change: Change {
        guard happening == .written else {
            return .message(.deleted(MessageDeletion(key: key, permanence: .forever)))
        }
        let rest = PackedRest(rest)
        return .message(
            .written(
                MessageWrite(
                    key: key,
                    version: editedAt.timestamp,
                    order: .byID,
                    author: String(author),
                    authorName: authorName?.string,
                    createdAt: createdAt.timestamp,
                    editedAt: editedAt.timestamp,
                    content: content.string,
                    replyTo: replyTo == .none ? nil : replyTo,
                    attachments: rest.attachments,
                    extra: rest.extra,
                    remoteTime: remoteTime,
                    by: String(author)
                )
            )
        )
    }
}

/// What a packed message keeps as it stood in its frame: attachments, and the members that no decoder knows.
struct PackedRest {
    /// The member of the gateway's messages that has a place of its own in the state.
    static let attachmentsName = "attachments"

    /// `nil` for none.
    let attachments: [JSONValue]?
    let extra: JSONObject

    /// - Parameter object: the text of an object; of any other text nothing is read.
    init(_ object: UnsafeRawBufferPointer) {
        let members = object.isEmpty ? [] : (try? JSONValue.parse(object))?.object?.members ?? []
        attachments = members.first { $0.name == Self.attachmentsName }?.value.array
        extra = JSONObject(
            distinct: members.filter { !$0.value.isNull && $0.name != Self.attachmentsName }
        )
    }

    init(_ members: MemberRuns) {
        var bytes: [UInt8] = []
        members.appendObject(to: &bytes)
        self = bytes.withUnsafeBytes { PackedRest($0) }
    }
}
