import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// HARs that are broken, cut or made by an enemy.
@Suite struct HARFaultTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func source(_ bytes: some Sequence<UInt8>, kind: HARKind? = .gateway, keepGoing: Bool = false) throws
        -> HARSource
    {
        let path = directory.path("bug.har")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return HARSource(path: path, kind: kind, name: try SourceName("s"), keepGoing: keepGoing)
    }

    private func error(_ bytes: some Sequence<UInt8>, kind: HARKind? = .gateway) -> IngestError? {
        do {
            _ = try source(bytes, kind: kind).allDrafts()
            return nil
        } catch {
            return error as? IngestError
        }
    }

    private static let frame = SampleHAR.message(10, #"{"op":10}"#)
    private static let good = SampleHAR.socket([frame], time: "0")

    static let notHARs: [(text: String, reason: String)] = [
        ("", "it is empty"), ("[]", "there is no list log.entries"), ("hello", "no value begins with this byte"),
        ("{}", "there is no list log.entries"), (#"{"log":7}"#, "there is no list"),
        (#"{"log":{}}"#, "there is no list"),
        (#"{"log":{"entries":{}}}"#, "there is no list"), (#"{"log":{"entries"#, "a text has no end"),
        (#"{"t_ms":1,"dir":"in","raw":"x"}"# + "\n" + #"{"t_ms":2}"#, "there is no list log.entries"),
        (String(repeating: "[", count: 200_000), "there is no list log.entries"),
        (#"{"log":{"x":"# + String(repeating: "[", count: 200_000), "more than 64 levels"),
        (#"{"x":"# + String(repeating: #"{"a":"#, count: 200_000), "more than 64 levels"),
    ]

    @Test(arguments: notHARs)
    func whatIsNoHARIsRefused(text: String, reason: String) throws {
        let error = error(text.utf8)
        #expect(error?.code == .invalidHAR)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    static let badEntries: [(entry: String, reason: String)] = [
        ("7", "an object is expected"), ("{}", "\"request\" is missing"),
        (#"{"request":{}}"#, "\"request.url\" is missing"),
        (#"{"request":[]}"#, "an object is expected"), (#"{"request":{"url":7}}"#, "a text is expected"),
        (good.replacingOccurrences(of: "\"startedDateTime\"", with: "\"started\""), "\"startedDateTime\" is missing"),
        (good.replacingOccurrences(of: "\"time\":0", with: "\"time\":1e300"), "number of milliseconds"),
        (
            good.replacingOccurrences(of: "/gateway", with: "/" + String(repeating: "x", count: 5_000)),
            "too many for an attribute"
        ),
        (good.replacingOccurrences(of: "[" + frame + "]", with: "{}"), "a list is expected"),
        (
            #"{"request":{"url":"https://x/a"},"startedDateTime":"\ud800"}"#.replacingOccurrences(
                of: "https://x/a",
                with: "wss://x/gateway"
            ), "half a surrogate pair"
        ),
        (SampleHAR.answer("https://x/api/users/@me/guilds", "%", encoding: "base64"), "not base64"),
    ]

    @Test(arguments: badEntries)
    func anEntryThatCannotBeReadRefusesTheFile(entry: String, reason: String) throws {
        let text = SampleHAR.document([Self.good, entry, Self.good])
        let error = error(text.utf8)
        #expect(error?.code == .invalidHAR)
        #expect(error?.object.hasSuffix("bug.har: entry 2") == true, "\(error?.object ?? "")")
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        #expect(try source(text.utf8, keepGoing: true).allDrafts().filter { $0.kind == .gatewayFrame }.count == 2)
    }

    static let badMessages: [(message: String, reason: String)] = [
        ("7", "an object is expected"), ("{}", "no number of seconds"),
        (SampleHAR.message(1, "", type: "sideways"), "neither \"send\" nor \"receive\""),
        (SampleHAR.message(1, "{}", opcode: "2"), "not base64"),
        (SampleHAR.message(1, "x", opcode: "3"), "none of a WebSocket's message"),
        (SampleHAR.message(1, "x", opcode: "1e999"), "none of a WebSocket's message"),
        (SampleHAR.message(1, "x", opcode: "\"1\""), "none of a WebSocket's message"),
        (SampleHAR.message(1, "x", opcode: "0"), "none of a WebSocket's message"),
        (#"{"type":"receive","time":1,"opcode":1}"#, "\"data\" is missing"),
        (#"{"type":"receive","time":1,"opcode":1,"data":{}}"#, "a text is expected"),
        (#"{"type":"receive","time":1,"opcode":1,"data":"\ud800"}"#, "half a surrogate pair"),
        (#"{"type":"receive","time":1,"opcode":1,"data":"\x"}"#, "no such escape"),
        (#"{"type":"receive","time":"1","opcode":1,"data":""}"#, "no number of seconds"),
        (#"{"type":"receive","time":1e308,"opcode":1,"data":""}"#, "no number of seconds"),
        (#"{"type":"receive","time":1e15,"opcode":1,"data":""}"#, "no number of seconds"),
        (
            #"{"type":"receive","time":\#(String(repeating: "9", count: 100_000)),"opcode":1,"data":""}"#,
            "no number of seconds"
        ),
        (#"{"type":"receive","time":nan,"opcode":1,"data":""}"#, "no number of seconds"),
    ]

    @Test(arguments: badMessages)
    func aMessageThatCannotBeReadIsNamed(message: String, reason: String) throws {
        let text = SampleHAR.document([SampleHAR.socket([Self.frame, message, Self.frame], time: "0")])
        let error = error(text.utf8)
        #expect(error?.object.hasSuffix("bug.har: entry 1, message 2") == true, "\(error?.object ?? "")")
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        let kept = try source(text.utf8, keepGoing: true).allDrafts().filter { $0.kind == .gatewayFrame }
        #expect(kept.map { $0.key?.rawValue.split(separator: "/").last } == ["1", "3"])
    }

    @Test func bytesThatAreNoTextAreNamed() throws {
        var bytes = Array(SampleHAR.document([SampleHAR.socket([Self.frame, SampleHAR.message(11, "@")])]).utf8)
        let place = try #require(bytes.lastIndex(of: UInt8(ascii: "@")))
        bytes[place] = 0xFF
        #expect(error(bytes)?.reason.contains("a text is not UTF-8 (byte \(place + 1))") == true)
    }

    @Test func everyCutOfAFileIsRefusedAndWhatIsWholeCanBeTaken() throws {
        let bytes = Array(SampleHAR.document([Self.good, Self.good]).utf8)
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: "]")))
        for count in stride(from: 1, to: end, by: 7) {
            let refusal = error(bytes[..<count])
            #expect(refusal?.code == .invalidHAR, "\(count)")
            guard refusal?.object.contains("entry") == true else { continue }
            do {
                let kept = try source(bytes[..<count], keepGoing: true).allDrafts()
                #expect((1..<2).contains(kept.count { $0.kind == .gatewayFrame }))
            } catch let error as IngestError {
                #expect(error.code == .nothingFits)
            }
        }
    }

    @Test func aByteOrderMarkAndMembersInAnyOrderAreFine() throws {
        let text = #"{"a":[{}],"log":{"pages":[[1]],"entries":[\#(Self.good)]},"z":0}"#
        #expect(try source([0xEF, 0xBB, 0xBF] + Array(text.utf8)).allDrafts().count == 2)
    }

    @Test func deepNestingWithinEntriesCostsNothing() throws {
        let deep = String(repeating: "[", count: 500_000) + String(repeating: "]", count: 500_000)
        let entry = #"{"x":\#(deep),"# + Self.good.dropFirst()
        let answer = SampleHAR.answer("https://chat.example.org/api/v1/users/@me/guilds", deep)
        #expect(try source(SampleHAR.document([entry, answer]).utf8).allDrafts().count == 3)
    }

    @Test func manyEntriesTakeTimeInProportion() throws {
        let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
        let count = isLong ? 1_000_000 : 20_000
        let others = [String](repeating: SampleHAR.answer("https://cdn.example.net/a", "x"), count: count)
        let broken = [String](repeating: "{}", count: 5_000)
        let items = try source(SampleHAR.document(others + [Self.good] + broken).utf8, keepGoing: true).all()
        let issues = items.compactMap { if case .skipped(let issue) = $0 { issue } else { nil } }
        #expect(items.count - issues.count == 2)
        #expect(issues.reduce(0) { $0 + $1.count } == count + 5_000)
        #expect(issues.count == IngestSummary.issueCountMax + 2)
    }

    static let dates: [(text: String, isRead: Bool)] = [
        ("2026-02-01T10:00:00Z", true), ("2026-02-01t10:00:00.000z", true), ("2026-02-01T12:00:00.000+02:00", true),
        ("2026-02-01T05:00:00-0500", true), ("2026-02-01 11:00:00,000+01", true),
        ("2026-02-01T10:00:00.000000000000Z", true),
        ("2026-02-01T10:00:00", false), ("2026-02-30T10:00:00Z", false), ("Sun, 01 Feb 2026 10:00:00 GMT", false),
        ("1769940000", false), ("", false), ("+", false), ("1969-12-31T23:59:59Z", false), ("2026-02-01", false),
        ("99999-01-01T00:00:00Z", false), ("2026-02-01T10:00:00+99:99", false), ("2026-02-01T10:00:00+1", false),
    ]

    @Test(arguments: dates)
    func datesOfAnyZoneAreReadAndOthersRefused(text: String, isRead: Bool) throws {
        let read = try? HARTime.microseconds(date: text)
        #expect(read == (isRead ? Int64(SampleHAR.start) * 1_000_000 : nil))
    }

    @Test func aFolderIsNoHAR() throws {
        let source = HARSource(path: directory.path("."), name: try SourceName("s"))
        #expect(throws: IngestError.self) { _ = try source.allDrafts() }
    }
}
