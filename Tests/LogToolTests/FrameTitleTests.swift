import EventLog
import Projections
import TestSupport
import Testing

@testable import logtool

@Suite struct FrameTitleTests {
    @Test(arguments: [
        ("gateway.frame/1", #"{"op":0,"s":7,"t":"MESSAGE_DELETE","d":{"id":"1"}}"#, "MESSAGE_DELETE"),
        ("gateway.frame/1", #"{"op":10,"d":{}}"#, "HELLO"), ("gateway.frame/1", #"{"op":1,"d":5}"#, "HEARTBEAT"),
        ("gateway.frame/1", #"{"op":11}"#, "HEARTBEAT_ACK"), ("gateway.frame/1", #"{"op":99}"#, nil),
        ("gateway.frame/1", "not JSON", nil),
        (
            "realtime.frame/1",
            #"{"topic":"realtime:public:notes","event":"postgres_changes","payload":{"data":{"type":"INSERT","table":"notes"}}}"#,
            "INSERT notes"
        ),
        ("realtime.frame/1", #"["1","2","realtime:x","phx_reply",{"status":"ok"}]"#, "phx_reply"),
        ("sse.event/1", "event: ping\ndata: 1\n\n", "ping"), ("sse.event/1", "id: 4\ndata: {}\n\n", "message"),
        ("git.commit/1", #"{"commit":"ab","subject":"Edit message"}"#, "Edit message"),
        ("items.message/1", #"[{"id":"a"},{"id":"b"}]"#, "2 items"), ("recorder.link/1", "", nil),
    ])
    func aFrameIsCalledWhatItCallsItself(kind: String, payload: String, title: String?) throws {
        let found = try Array(payload.utf8).withUnsafeBytes {
            FrameTitle.title(of: try EventKind(kind), payload: $0)
        }
        #expect(found == title)
    }

    @Test func eventsAndStepsNameIt() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 1)
        let events = try ToolRun.run(["events", "L"], in: folder).output
        #expect(events.contains("HELLO dir=in"))
        #expect(events.contains("MESSAGE_CREATE dir=in"))
        let steps = try ToolRun.run(["replay", "L", "--step"], in: folder).output
        #expect(steps.contains("gateway.frame/1  MESSAGE_CREATE\n"))
        #expect(try ToolRun.run(["events", "L", "--jsonl"], in: folder).output.contains(#""frame":"MESSAGE_CREATE""#))
    }
}
