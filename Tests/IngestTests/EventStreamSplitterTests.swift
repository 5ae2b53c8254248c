import EventLog
import Testing

@testable import Ingest

@Suite struct EventStreamSplitterTests {
    private static let mark = "\u{FEFF}"

    struct Example: CustomTestStringConvertible, Sendable {
        let name: String
        let stream: String
        let events: [String]
        var testDescription: String { name }
    }

    static let examples = [
        Example(
            name: "LF",
            stream: "retry: 3000\n\nid: 0\ndata: a\ndata: ü\n\n",
            events: ["retry: 3000\n\n", "id: 0\ndata: a\ndata: ü\n\n"]
        ),
        Example(
            name: "CRLF",
            stream: "data: a\r\n\r\ndata: b\r\n\r\n",
            events: ["data: a\r\n\r\n", "data: b\r\n\r\n"]
        ),
        Example(name: "CR", stream: "data: a\r\rdata: b\r\r", events: ["data: a\r\r", "data: b\r\r"]),
        Example(name: "mixed", stream: "a\r\nb\rc\n\rd\n\r\n", events: ["a\r\nb\rc\n\r", "d\n\r\n"]),
        Example(
            name: "mark",
            stream: "\(mark)data: a\n\n\(mark)b\n\n",
            events: ["\(mark)data: a\n\n", "\(mark)b\n\n"]
        ),
        Example(name: "mark alone", stream: "\(mark)\n\ndata: a\n\n", events: ["data: a\n\n"]),
        Example(
            name: "empty lines between",
            stream: "\n\r\n\rdata: a\n\n\n\n\ndata: b\n\n",
            events: ["data: a\n\n", "data: b\n\n"]
        ),
        Example(name: "comment", stream: ": ping\n\n", events: [": ping\n\n"]),
        Example(name: "unfinished", stream: "data: a\n\ndata: b\n", events: ["data: a\n\n"]),
        Example(name: "half of CRLF", stream: "data: a\r\n\r", events: []),
        Example(name: "nothing", stream: "", events: []),
    ]

    private func split(_ pieces: [[UInt8]]) -> [[UInt8]] {
        var splitter = EventStreamSplitter()
        var events: [EventStreamSplitter.Event] = []
        for piece in pieces {
            events += piece.withUnsafeBufferPointer { splitter.push($0, at: Timestamp(seconds: 1)) }
        }
        if let last = splitter.end() { events.append(last) }
        return events.compactMap {
            if case .whole(let bytes) = $0.content { return bytes }
            return nil
        }
    }

    @Test(arguments: examples)
    func eventsAreTheSameWhereverTheStreamIsCut(_ example: Example) {
        let bytes = Array(example.stream.utf8)
        let expected = example.events.map { Array($0.utf8) }
        #expect(split([bytes]) == expected)
        #expect(split(bytes.map { [$0] }) == expected)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
                #expect(split(pieces) == expected, "cut at \(first) and \(second)")
            }
        }
    }

    @Test func brokenMarkBeginsALine() {
        #expect(split([[0xEF, 0x0A, 0x0A]]) == [[0xEF, 0x0A, 0x0A]])
        #expect(split([[0xEF, 0xBB], [0x0A, 0x0A]]) == [[0xEF, 0xBB, 0x0A, 0x0A]])
        #expect(split([[0xEF, 0xBB, 0x61], [0x0A, 0x0A]]) == [[0xEF, 0xBB, 0x61, 0x0A, 0x0A]])
    }

    @Test func anEventCompletesWithThePieceThatHoldsItsLastByte() {
        var splitter = EventStreamSplitter()
        let push = { (text: String, seconds: Int64) in
            Array(text.utf8).withUnsafeBufferPointer { splitter.push($0, at: Timestamp(seconds: seconds)) }
                .map(\.completedAt.seconds)
        }
        #expect(push("data: a\n", 1) == [])
        #expect(push("\ndata: b\r\n\r", 2) == [2])
        #expect(push("\n", 3) == [3])
        #expect(push("data: c\r\r", 4) == [])
        #expect(push("data: d", 5) == [4])
    }

    @Test func anEventThatIsTooLongIsKeptAsLengthAndHash() {
        let bytes = Array("data: 0123456789\n\n".utf8)
        var splitter = EventStreamSplitter(limit: bytes.count - 1)
        let events = bytes.withUnsafeBufferPointer { splitter.push($0, at: Timestamp(seconds: 1)) }
        #expect(events.map(\.content) == [.oversize(length: bytes.count, hash: Hasher256.hash(bytes))])
        var exact = EventStreamSplitter(limit: bytes.count)
        let kept = bytes.withUnsafeBufferPointer { exact.push($0, at: Timestamp(seconds: 1)) }
        #expect(kept.map(\.content) == [.whole(bytes)])
    }

    @Test func theEndOfAConnectionDiscardsWhatIsUnfinished() {
        var splitter = EventStreamSplitter()
        let push = { (text: String) in
            Array(text.utf8).withUnsafeBufferPointer { splitter.push($0, at: Timestamp(seconds: 1)) }.map(\.content)
        }
        #expect(push("data: lost\n") == [])
        #expect(splitter.end() == nil)
        #expect(push("data: a\n\n") == [.whole(Array("data: a\n\n".utf8))])
    }
}
