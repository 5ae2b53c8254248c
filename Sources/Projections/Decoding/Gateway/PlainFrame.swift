import EventLog
import JSON

/// A gateway's frame about one message, in the server's usual form: a packed message can hold all of it.
///
/// Unknown members are kept verbatim. Borrows the frame's bytes: valid only as long as the payload it was read from.
/// Bitwise copyable, so a batch of frames is one piece of memory without reference counts.
struct PlainFrame: BitwiseCopyable {
    enum Happening: BitwiseCopyable {
        case written
        case deleted
    }

    var happening = Happening.written
    /// Whether the frame is a MESSAGE_CREATE. It is one happening with MESSAGE_UPDATE, but for clients.
    var isCreated = false
    /// The frame's `s`; `nil` if the frame has none.
    var counter: Int64?
    /// The whole frame, if it has a counter; else empty. Its hash marks the dispatch.
    var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The hash of `bytes` under the log's key, if it was made when the frame was read; folding makes it otherwise.
    var hash: UInt128?
    var channel = EntityID.none
    var id = EntityID.none
    /// `EntityID.none` if the frame names no guild.
    var guild = EntityID.none
    /// The author's id. It is a number below 2^63 in every plain frame; 0 in a deletion that names no author.
    var author: UInt64 = 0
    /// The display name, else the user name; `nil` if the frame has neither.
    var authorName: JSONText?
    var content = JSONText.empty
    var createdAt = PackedTime.none
    /// The version of the message; `PackedTime.none`, the least version, if it was never edited.
    var editedAt = PackedTime.none
    /// The attachments, if any, and the members that no decoder knows.
    var rest = MemberRuns.none

    var key: MessageKey { MessageKey(channel: channel, id: id) }
}

extension PlainFrame {
    /// The frame of an event; `nil` if the event is no inbound gateway frame or the frame is not plain.
    init?(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        guard envelope.kind.rawValue == GatewayDecoder.frameKind, envelope.attributes["dir"] != "out", !envelope.isAct,
            let frame = PlainFrameScanner.frame(payload)
        else { return nil }
        self = frame
    }

    /// The remote's time of the change; `nil` for a deletion.
    var remoteTime: Timestamp? {
        guard happening == .written else { return nil }
        return editedAt.timestamp ?? createdAt.timestamp
    }

    /// The message change that `GatewayDecoder` reads from the same frame (I18). The decoder's changes that name the
    /// guild and the channel are missing: `SourceState.applyPlain` makes those itself.
    var change: Change {
        guard happening == .written else {
            return .message(.deleted(MessageDeletion(key: key, permanence: .forever)))
        }
        return .message(.written(write))
    }

    /// The version that the frame brings; only of a frame that is no deletion.
    var write: MessageWrite {
        let rest = PackedRest(rest)
        return MessageWrite(
            key: key,
            // The gateway states no version; the time of the last edit orders the versions.
            version: editedAt.timestamp,
            order: .byID,
            saying: MessageSaying(
                text: MessageText(content.string),
                author: String(author),
                authorName: authorName?.string,
                createdAt: createdAt.timestamp,
                editedAt: editedAt.timestamp,
                attachments: rest.attachments,
                extra: rest.extra
            ),
            remoteTime: remoteTime,
            by: String(author)
        )
    }
}
