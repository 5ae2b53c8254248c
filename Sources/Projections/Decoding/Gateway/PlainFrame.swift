import EventLog

/// What a gateway's frame about one message says, where it is written as the server writes them: nothing in it that a
/// packed message could not hold. Borrows the frame's bytes.
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
                    remoteTime: remoteTime,
                    by: String(author)
                )
            )
        )
    }
}
