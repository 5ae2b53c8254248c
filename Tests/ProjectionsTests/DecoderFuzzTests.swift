import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct DecoderFuzzTests {
    private static let corpus: [(kind: String, text: String)] = [
        (
            "items.message/1",
            #"{"project":"work","items":[{"id":"a","text":"é","done":false,"n":1e3},{"id":2}]}"#
        ),
        ("sse.event/1", "id: 1\r\ndata: {\"id\":\"a\",\"title\":\"A\"}\ndata: {\"type\":\"agent\"}\n\n"),
        (
            "status.file/1",
            #"{"state":"idle","project":"p","timestamp":"2026-01-19T08:30:00+02:00","pid":47e2}"#
        ),
        (
            "realtime.frame/1",
            RealtimeFrames.change(
                "UPDATE",
                table: "conversations",
                seconds: 3,
                columns: ["id", "messages"],
                record: #"{"id":"c1","messages":[{"id":"m1","role":"user","timestamp":"2026-02-01T09:20:04.120Z"}]}"#,
                errors: #"["Error 413: x"]"#
            )
        ),
        (
            "realtime.frame/1",
            RealtimeFrames.change(
                "INSERT",
                table: "tasks",
                seconds: 2,
                record: #"{"id":"t1","created_at":"2026-02-01T00:00:00.5+00:00"}"#
            )
        ),
        ("realtime.frame/1", RealtimeFrames.subscribed("realtime:public:notes")),
    ]

    @Test(arguments: [91, 92, 93, 94] as [UInt64])
    func noBytesAtAllStopADecoder(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var source = SourceHarness()
        for sequence in 1...1500 {
            let (kind, text) = Self.corpus.randomElement(using: &random) ?? Self.corpus[0]
            let event = try TestEvent(
                UInt64(sequence),
                kind: EventKind(kind),
                attributes: ["path": "/tmp/vibestatus-a.json", "op": "write", "dir": "in"],
                payload: Self.mutated(Array(text.utf8), &random)
            )
            source.apply(event)
        }
        #expect(!source.issues.isEmpty)
        #expect(source.issues.allSatisfy { !$0.reason.isEmpty })
    }

    private static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2:
                bytes.insert(contentsOf: Array("9e99{[\"]}:,-\\".utf8).shuffled(using: &random).prefix(3), at: index)
            case 3: bytes.removeSubrange(index...)
            default: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &random))
            }
        }
        return bytes
    }
}
