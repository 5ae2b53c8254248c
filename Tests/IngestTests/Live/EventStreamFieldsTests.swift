#if Recorders
import EventLog
import Testing

@testable import Ingest

/// The cases of the Web Platform Tests' `eventsource/format-*`, as bytes and the events that they give.
@Suite struct EventStreamFieldsTests {
    struct Example: CustomTestStringConvertible, Sendable {
        let name: String
        let stream: [UInt8]
        let messages: [EventStreamFields.Message]
        var lastEventID = ""
        var retry: Int?
        var testDescription: String { name }

        init(
            _ name: String,
            _ stream: String,
            _ messages: [EventStreamFields.Message],
            lastEventID: String = "",
            retry: Int? = nil
        ) {
            self.init(name, bytes: Array(stream.utf8), messages, lastEventID: lastEventID, retry: retry)
        }

        init(
            _ name: String,
            bytes: [UInt8],
            _ messages: [EventStreamFields.Message],
            lastEventID: String = "",
            retry: Int? = nil
        ) {
            self.name = name
            stream = bytes
            self.messages = messages
            self.lastEventID = lastEventID
            self.retry = retry
        }
    }

    private static func message(_ data: String, type: String = "message", id: String = "") -> EventStreamFields.Message
    {
        EventStreamFields.Message(type: type, data: data, lastEventID: id)
    }

    static let examples = [
        Example("bom", "\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", [message("1"), message("3")]),
        Example("bom-2", "\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3\n\n", [message("2"), message("3")]),
        Example(
            "comments",
            "data:1\r:\0\n:\r\ndata:2\n:\(String(repeating: "x", count: 8192))\rdata:3\n:data:fail\r:\(String(repeating: "y", count: 8192))\ndata:4\n\n",
            [message("1\n2\n3\n4")]
        ),
        Example(
            "data-before-final-empty-line",
            "retry:1000\ndata:test1\n\nid:test\ndata:test2",
            [message("test1")],
            retry: 1000
        ),
        Example("field-data", "data:\n\ndata\ndata\n\ndata:test\n\n", [message(""), message("\n"), message("test")]),
        Example("field-event", "event:test\ndata:x\n\ndata:x\n\n", [message("x", type: "test"), message("x")]),
        Example("field-event-empty", "event: \ndata:data\n\n", [message("data")]),
        Example(
            "field-id",
            "id: ru\ndata: a\n\ndata: b\n\n",
            [message("a", id: "ru"), message("b", id: "ru")],
            lastEventID: "ru"
        ),
        Example("field-id-2", "id:1\ndata:a\n\nid\ndata:b\n\n", [message("a", id: "1"), message("b")]),
        Example(
            "field-id-3",
            "id: 1\ndata:1\n\nid\ndata:2\n\ndata:3\n\nid:0\ndata:4\n\n",
            [message("1", id: "1"), message("2"), message("3"), message("4", id: "0")],
            lastEventID: "0"
        ),
        Example("field-id-null", "id:\0\ndata:a\n\nid:a\0b\ndata:b\n\n", [message("a"), message("b")]),
        Example(
            "field-parsing",
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n",
            [message("\0\n 2\n1\n3\n\n4")]
        ),
        Example("field-retry", "retry:3000\ndata:x\n\n", [message("x")], retry: 3000),
        Example("field-retry-bogus", "retry:3000\nretry:1000x\ndata:x\n\n", [message("x")], retry: 3000),
        Example("field-retry-empty", "retry\ndata:test\n\n", [message("test")]),
        Example(
            "field-unknown",
            "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
            [message("test\n\ntest")]
        ),
        Example("leading-space", "data:\ttest\rdata: \ndata:test\n\n", [message("\ttest\n\ntest")]),
        Example("newlines", "data:test\r\ndata\ndata:test\r\n\r\n", [message("test\n\ntest")]),
        Example("null-character", "data:\0\n\n\n\n", [message("\0")]),
        Example("utf-8", "data:ok…\n\n", [message("ok…")]),
        Example(
            "utf-8 that is none",
            bytes: Array("data:a".utf8) + [0xFF] + Array("b\n\n".utf8),
            [message("a\u{FFFD}b")]
        ),
    ]

    @Test(arguments: examples)
    func aStreamGivesTheEventsOfTheStandard(_ example: Example) {
        let count = example.stream.count
        for cut in stride(from: 0, through: count, by: max(1, count / 64)) {
            var splitter = EventStreamSplitter()
            var fields = EventStreamFields()
            var events: [EventStreamSplitter.Event] = []
            for piece in [example.stream[..<cut], example.stream[cut...]] {
                events += Array(piece).withUnsafeBufferPointer { splitter.push($0, at: Timestamp(seconds: 1)) }
            }
            if let last = splitter.end() { events.append(last) }
            let messages = events.compactMap { event -> EventStreamFields.Message? in
                guard case .whole(let bytes) = event.content else { return nil }
                return fields.read(bytes)
            }
            #expect(messages == example.messages, "cut at \(cut)")
            #expect(fields.lastEventID == example.lastEventID)
            #expect(fields.retryMilliseconds == example.retry)
            if messages != example.messages { return }
        }
    }
}
#endif
