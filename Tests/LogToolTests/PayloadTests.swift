import EventLog
import Projections
import Testing

@testable import Reduction

@Suite struct PayloadTests {
    private func draft(_ kind: String, _ payload: String) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(seconds: 0),
            source: try SourceName("app"),
            kind: try EventKind(kind),
            payload: Array(payload.utf8)
        )
    }

    private func parts(_ cuts: [Payload.Cut]) -> [Int] {
        cuts.compactMap { if case .parts(let count) = $0.kind, count > 0 { count } else { nil } }
    }

    @Test func aPayloadThatIsNotCutKeepsItsBytes() throws {
        for (kind, text) in [
            ("gateway.frame/1", #"{ "op" : 0 , "d":{} }"#), ("status.file/1", "{\"state\":\"idle\"}\n"),
            ("sse.event/1", "id: 4\r\ndata:{\"id\":1}\ndata: x\n\n"), ("status.file/1", "half {"),
        ] {
            #expect(Payload(of: try draft(kind, text)).bytes == Array(text.utf8))
        }
    }

    @Test func framesKeepTheirOutermostMembers() throws {
        let payload = Payload(of: try draft("gateway.frame/1", #"{"op":0,"s":1,"d":{"a":1,"b":2}}"#))
        #expect(parts(payload.cuts) == [2])
        let cut = try #require(payload.cuts.first { if case .parts(2) = $0.kind { true } else { false } })
        #expect(payload.keeping([1], of: cut).bytes == Array(#"{"op":0,"s":1,"d":{"b":2}}"#.utf8))
    }

    @Test func linesOfAnEventStreamCanGo() throws {
        let payload = Payload(of: try draft("sse.event/1", "id: 4\ndata: {\"id\":1}\ndata: {\"id\":2}\n\n"))
        let kept = payload.keeping([1], of: payload.cuts[0])
        #expect(kept.bytes == Array("id: 4\ndata: {\"id\":2}\n\n".utf8))
    }

    @Test func ofACommitOnlyTextsAreCut() throws {
        let text =
            #"{"commit":"ab","subject":"A long subject","parents":[{"changes":[]}],"files":[{"path":"a b","text":"x\ny\n"}]}"#
        let payload = Payload(of: try draft("git.commit/1", text))
        #expect(parts(payload.cuts) == [2])
        let texts = payload.cuts.filter { if case .text(let lengths) = $0.kind { !lengths.isEmpty } else { false } }
        #expect(texts.count == 2)
    }

    @Test func idsAndTimesKeepTheirLength() throws {
        let text =
            #"{"a":"2026-01-19 08:30:00","b":"7d0c0000-0000-4000-8000-000000000001","c":"https://example.org/a b","d":"word"}"#
        let payload = Payload(of: try draft("status.file/1", text))
        let texts = payload.cuts.filter { if case .text(let lengths) = $0.kind { !lengths.isEmpty } else { false } }
        #expect(texts.isEmpty)
    }
}
