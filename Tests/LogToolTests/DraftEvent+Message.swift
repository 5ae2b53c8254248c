import EventLog

extension DraftEvent {
    /// A gateway's frame that creates a message.
    static func message(
        _ id: Int,
        in channel: Int = 7,
        at createdAt: String = "2026-03-01T11:00:00Z"
    ) throws -> DraftEvent {
        let text = #""author_id":"1","content":"hi","created_at":"\#(createdAt)""#
        let data = #"{"id":"\#(id)","channel_id":"\#(channel)",\#(text)}"#
        return DraftEvent(
            recordedAt: Timestamp(seconds: 1_770_000_000),
            source: try SourceName("app"),
            kind: try EventKind("gateway.frame/1"),
            attributes: ["dir": "in"],
            payload: Array(#"{"op":0,"t":"MESSAGE_CREATE","s":\#(id),"d":\#(data)}"#.utf8)
        )
    }
}
