import EventLog
import Foundation
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// Files proposed for chats that nobody has described.
@Suite struct DecoderInferenceTests {
    /// A line of a chat: a frame, or the answer to a path.
    private struct Line {
        var path: String?
        let payload: String
    }

    private static func source() throws -> SourceName { try SourceName("chat") }

    private static func event(_ line: Line, _ index: Int) throws -> (Envelope, [UInt8]) {
        let pairs =
            line.path.map { [Attributes.Pair(name: "path", value: $0), .init(name: "status", value: "200")] } ?? []
        let envelope = try Envelope(
            sequence: SequenceNumber(UInt64(index + 1)),
            recordedAt: Timestamp(seconds: 1_767_225_600 + Int64(index)),
            source: source(),
            kind: EventKind(line.path == nil ? "ws.frame/1" : "http.answer/1"),
            key: nil,
            attributes: Attributes(pairs),
            holding: .whole
        )
        return (envelope, Array(line.payload.utf8))
    }

    private static func proposal(_ lines: [Line]) throws -> DecoderInference.Proposal {
        var inference = DecoderInference()
        for (index, line) in lines.enumerated() {
            let (envelope, payload) = try event(line, index)
            payload.withUnsafeBytes { inference.add(envelope, payload: $0) }
        }
        let proposal = try #require(try inference.proposal(name: "chat"))
        #expect(proposal.file.sampleFaults().isEmpty, "\(proposal.file.text)")
        #expect(try inference.proposal(name: "chat")?.file.text == proposal.file.text)
        return proposal
    }

    /// Each change that the file makes of each line, without the channel.
    private static func changes(_ lines: [Line], _ file: DecoderFile) throws -> [String] {
        var trial = try DecoderTrial(file, source: source())
        return try lines.enumerated().flatMap { index, line in
            let (envelope, payload) = try event(line, index)
            let outcome = payload.withUnsafeBytes { trial.read(envelope, payload: $0) }
            #expect(outcome.decoded.issues.isEmpty, "\(outcome.decoded.issues) \(file.text)")
            return outcome.decoded.changes.map { change in
                let member = change.json.object?.members.first
                let parts = ["channel", "id", "author", "content", "replyTo"].map { member?.value[$0]?.string ?? "-" }
                return ([member?.name ?? ""] + parts).joined(separator: " ")
            }
        }
    }

    @Test func anEnvelopeThatNamesItsType() throws {
        func post(_ id: String, _ by: String, _ text: String, _ answers: String? = nil) -> Line {
            let more = answers.map { #","answers":"\#($0)""# } ?? ""
            let body = #"{"key":"\#(id)","by":"\#(by)","text":"\#(text)","at":1767225600000\#(more)}"#
            return Line(payload: #"{"type":"post","room":"r1","post":\#(body)}"#)
        }
        let lines = [
            post("a", "ada", "hi there"), post("b", "bo", "hello you", "a"), post("c", "ada", "how are you"),
            Line(payload: #"{"type":"edit","room":"r1","key":"c","text":"how is it"}"#),
            Line(payload: #"{"type":"gone","room":"r1","key":"a"}"#),
            Line(payload: #"{"type":"ping"}"#),
        ]
        let file = try Self.proposal(lines).file
        let changes = try Self.changes(lines, file)
        #expect(changes.count == 5, "\(changes) \(file.text)")
        #expect(try changes.at(0).hasSuffix("r1 a ada hi there -"), "\(changes)")
        #expect(try changes.at(1).hasSuffix("r1 b bo hello you a"), "\(changes)")
        #expect(try changes.at(3).hasSuffix("r1 c - how is it -"), "\(changes)")
        #expect(try changes.at(4).hasPrefix("messageDeleted r1 a"), "\(changes)")
        for secret in ["hi there", "ada", "hello"] { #expect(!file.text.contains(secret)) }
    }

    @Test func anEnvelopeThatNumbersItsOperations() throws {
        func said(_ id: Int, _ user: Int, _ text: String, _ re: Int? = nil) -> Line {
            let more = re.map { #","reply_to":\#($0)"# } ?? ""
            let sender = #"{"id":\#(user),"name":"user \#(user)"}"#
            return Line(
                payload:
                    #"{"op":1,"d":{"id":\#(id),"chat_id":7,"sender":\#(sender),"body":"\#(text)","ts":\#(1_767_225_600 + id)\#(more)}}"#
            )
        }
        let lines = [
            said(101, 1, "good day"), said(102, 2, "to you too", 101), said(103, 1, "thank you all"),
            Line(payload: #"{"op":2,"d":{"id":103,"chat_id":7,"body":"thanks to all"}}"#),
            Line(payload: #"{"op":3,"d":{"id":102,"chat_id":7}}"#), Line(payload: #"{"op":9}"#),
        ]
        let file = try Self.proposal(lines).file
        let changes = try Self.changes(lines, file)
        #expect(changes.count == 5, "\(changes) \(file.text)")
        #expect(try changes.at(1).hasSuffix("7 102 2 to you too 101"), "\(changes)")
        #expect(try changes.at(3).hasSuffix("7 103 - thanks to all -"), "\(changes)")
        #expect(try changes.at(4).hasPrefix("messageDeleted 7 102"), "\(changes)")
    }

    @Test func answersAlone() throws {
        func row(_ id: String, _ user: String, _ text: String, _ parent: String? = nil, deleted: Bool = false) -> String
        {
            let more = parent.map { #","parentId":"\#($0)""# } ?? ""
            let time = #""createdAt":"2026-01-01T00:00:0\#(id.last ?? "0")Z""#
            return #"{"id":"\#(id)","userId":"\#(user)","text":"\#(text)",\#(time),"deleted":\#(deleted)\#(more)}"#
        }
        func answer(_ rows: String...) -> Line {
            Line(
                path: "/api/rooms/lobby/messages?limit=50",
                payload: #"{"messages":[\#(rows.joined(separator: ","))]}"#
            )
        }
        let lines = [
            answer(row("m1", "u1", "first of all"), row("m2", "u2", "second to that", "m1")),
            answer(row("m1", "u1", "first of most"), row("m2", "u2", "second to that", "m1", deleted: true)),
        ]
        let file = try Self.proposal(lines).file
        let changes = try Self.changes(lines, file)
        #expect(changes.count == 4, "\(changes) \(file.text)")
        #expect(try changes.at(1).hasSuffix("lobby m2 u2 second to that m1"), "\(changes)")
        #expect(try changes.at(2).hasSuffix("lobby m1 u1 first of most -"), "\(changes)")
        #expect(try changes.at(3).hasPrefix("messageDeleted lobby m2"), "\(changes)")
    }

    @Test func nothingIsProposedWhereNothingIsSaid() throws {
        var inference = DecoderInference()
        let (envelope, payload) = try Self.event(Line(payload: #"{"type":"ping","n":1}"#), 0)
        payload.withUnsafeBytes { inference.add(envelope, payload: $0) }
        #expect(try inference.proposal(name: "chat") == nil)
    }

    /// Payloads of any shape give a file that its samples prove, or none.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func noPayloadsStopIt(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            var inference = DecoderInference()
            for index in 0..<12 {
                let (envelope, payload) = try Self.event(Line(payload: Self.payload(0, &random)), index)
                payload.withUnsafeBytes { inference.add(envelope, payload: $0) }
            }
            guard let proposal = try inference.proposal(name: "chat") else { continue }
            #expect(proposal.file.sampleFaults().isEmpty)
        }
    }

    private static func payload(_ depth: Int, _ random: inout SeededGenerator) -> String {
        let names = [
            "id", "text", "user", "at", "room", "type", "a/b~c", "x: y'\\n", "messages", "emoji", "deleted", "é",
        ]
        switch Int.random(in: depth > 3 ? 3...7 : 0...7, using: &random) {
        case 0, 1:
            let members = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                "\"\(names.randomElement(using: &random) ?? "id")\":" + payload(depth + 1, &random)
            }
            return "{\(members.joined(separator: ","))}"
        case 2: return "[\((0..<3).map { _ in payload(depth + 1, &random) }.joined(separator: ","))]"
        case 3:
            return
                "\"\(["a b", "m1", "delete", "edit", "it's: {a}", "2026-01-01T00:00:00Z"].randomElement(using: &random) ?? "")\""
        case 4: return "\(Int.random(in: 0...4, using: &random))"
        case 5: return "1767225600000"
        case 6: return "true"
        default: return "null"
        }
    }
}
