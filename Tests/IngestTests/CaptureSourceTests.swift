import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite struct CaptureSourceTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func source(
        _ text: String,
        kind: CaptureKind? = nil,
        keepGoing: Bool = false,
        name: String = "capture.ndjson"
    ) throws -> CaptureSource {
        try source(Array(text.utf8), kind: kind, keepGoing: keepGoing, name: name)
    }

    private func source(
        _ bytes: [UInt8],
        kind: CaptureKind? = nil,
        keepGoing: Bool = false,
        name: String = "capture.ndjson"
    ) throws -> CaptureSource {
        let path = directory.path(name)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return CaptureSource(path: path, kind: kind, name: try SourceName("s"), keepGoing: keepGoing)
    }

    private func error(_ body: () throws -> Void) -> IngestError? {
        do {
            try body()
            return nil
        } catch {
            return error as? IngestError
        }
    }

    @Test func framesKeepTheirBytesTimesAndDirections() throws {
        let drafts = try source(
            #"{"t_ms":1767225600000,"link":"open"}"# + "\n"
                + #"{"t_ms":1767225600001,"dir":"in","raw":"{\"op\":10,\"d\":{\"x\":\"\\u00e9\ud83d\ude00\"}}"}"#
                + "\r\n"
                + #"{"t_ms":1767225600002,"dir":"out","raw":"{\"op\":2,\"d\":{\"token\":\"s\"}}"}"# + "\n"
                + #"{"t_ms":1767225600003,"dir":"in","rawBase64":"\/wA="}"# + "\n"
                + #"{"t_ms":1767225600004,"link":"close","code":4004}"#
        ).allDrafts()
        #expect(drafts.map(\.kind) == [.recorderLink, .gatewayFrame, .gatewayFrame, .gatewayFrame, .recorderLink])
        #expect(drafts.map(\.key?.rawValue) == (1...5).map { "1767225600000/\($0)" })
        #expect(drafts.map(\.recordedAt) == (0...4).map { Timestamp(microseconds: 1_767_225_600_000_000 + $0 * 1000) })
        #expect(drafts[1].text == #"{"op":10,"d":{"x":"\u00e9😀"}}"#)
        #expect(drafts[2].text == #"{"op":2,"d":{"token":"[redacted]"}}"#)
        #expect(drafts[3].payload == [0xFF, 0])
        #expect(drafts.map { $0.attributes["dir"] } == [nil, "in", "out", "in", nil])
        #expect(drafts.map { $0.attributes["redacted"] } == [nil, nil, "1", nil, nil])
        #expect(drafts.map { $0.attributes["link"] } == ["open", nil, nil, nil, "close"])
        #expect(drafts[4].attributes["code"] == "4004")
        #expect(drafts[4].payload.isEmpty)
    }

    @Test func statusFilesAreObservations() throws {
        let drafts = try source(
            #"{"t_ms":1,"path":"/tmp/vibestatus-a.json","op":"write","raw":""}"# + "\n"
                + #"{"t_ms":2,"path":"/tmp/vibestatus-a.json","op":"remove"}"# + "\n"
        ).allDrafts()
        #expect(drafts.map(\.kind) == [.statusFile, .statusFile])
        #expect(drafts.map { $0.attributes["op"] } == ["write", "remove"])
        #expect(drafts.map { $0.attributes["path"] } == ["/tmp/vibestatus-a.json", "/tmp/vibestatus-a.json"])
        #expect(drafts.allSatisfy { $0.payload.isEmpty })
    }

    @Test func streamEventsAreCountedThroughAllConnections() throws {
        let drafts = try source(
            #"{"t_ms":5,"dir":"in","raw":"retry: 1\n\nid: 0\nda"}"# + "\n"
                + #"{"t_ms":6,"dir":"in","raw":"ta: {\"id\":\"a\"}\n\ndata: lost"}"# + "\n"
                + #"{"t_ms":7,"link":"close"}"# + "\n"
                + #"{"t_ms":8,"dir":"in","raw":"data: x\n\ndata: unfinished\n"}"#
        ).allDrafts()
        #expect(drafts.map(\.text) == ["retry: 1\n\n", "id: 0\ndata: {\"id\":\"a\"}\n\n", "", "data: x\n\n"])
        #expect(drafts.map(\.key?.rawValue) == ["5/e/1", "5/e/2", "5/3", "5/e/3"])
        #expect(drafts.map(\.recordedAt) == [5, 6, 7, 8].map { Timestamp(microseconds: $0 * 1000) })
    }

    @Test func streamsOfSeveralPathsAreToldApart() throws {
        let lines = #"""
            {"t_ms":5,"dir":"in","path":"/a","raw":"data: 1\n"}
            {"t_ms":6,"dir":"in","path":"/b","raw":"data: 2\n\n"}
            {"t_ms":7,"dir":"in","path":"/a","raw":"\n"}
            """#
        for kind in [CaptureKind.sse, .ws] {
            let drafts = try source(lines, kind: kind).allDrafts()
            #expect(drafts.map(\.text) == ["data: 2\n\n", "data: 1\n\n"])
            #expect(drafts.map { $0.attributes["path"] } == ["/b", "/a"])
        }
        let error = error { _ = try source(#"{"t_ms":5,"path":"/a","raw":"data: 1"}"#, kind: .sse).allDrafts() }
        #expect(error?.reason.contains(#"neither "dir""#) == true)
    }

    @Test func aGrownCaptureKeepsTheKeysOfWhatWasThere() throws {
        let first = #"{"t_ms":5,"dir":"in","raw":"data: a\n\ndata: b\n"}"# + "\n"
        let before = try source(first).allDrafts()
        let after = try source(first + #"{"t_ms":6,"dir":"in","raw":"\n"}"#).allDrafts()
        #expect(before.count == 1)
        #expect(after.count == 2)
        #expect(after.first == before.first)
    }

    /// Programs of other people write such files; each line keeps its own number (I15).
    @Test func aMarkBlankLinesAndFractionsOfTimeAreRead() throws {
        let lines = [
            "\u{FEFF}\r\n", "\u{FEFF}", #"{"t_ms":1769904000100.5,"dir":"in","raw":"{\"op\":10}"}"#,
            " \t", #"{"t_ms":1.7699040002e12,"dir":"in","raw":"{\"op\":11}"}"#, "", "",
        ]
        let drafts = try source(lines.dropFirst().joined(separator: "\n")).allDrafts()
        #expect(drafts.map(\.key?.rawValue) == ["1769904000100/2", "1769904000100/4"])
        #expect(drafts.map(\.recordedAt.microseconds) == [1_769_904_000_100_500, 1_769_904_000_200_000])
        #expect(try source(lines[0] + lines[2]).allDrafts().map(\.key?.rawValue) == ["1769904000100/2"])
        let marked = try source("\u{FEFF}" + lines[2]).allDrafts()
        #expect(marked.map(\.key?.rawValue) == ["1769904000100/1"])
    }

    static let broken: [(line: String, reason: String)] = [
        (#"{"t_ms":2,"dir":"in","raw":"x"#, "the file ends within the line"),
        ("[]", "does not begin with {"),
        (#"{"t_ms":2,"dir":"in","raw":"x"} y"#, "something follows"),
        (#"{"dir":"in","raw":"x"}"#, "\"t_ms\" is missing"),
        (#"{"t_ms":"2","dir":"in","raw":"x"}"#, "no number"),
        (#"{"t_ms":1e999,"dir":"in","raw":"x"}"#, "within range"),
        (#"{"t_ms":9223372036854775807,"dir":"in","raw":"x"}"#, "within range"),
        (#"{"t_ms":99999999999999999999,"dir":"in","raw":"x"}"#, "within range"),
        (#"{"t_ms":2,"raw":"x"}"#, "\"dir\" is missing"),
        (#"{"t_ms":2,"dir":"up","raw":"x"}"#, "neither"),
        (#"{"t_ms":2,"dir":"in"}"#, "is missing"),
        (#"{"t_ms":2,"dir":"in","raw":7}"#, "no string"),
        (#"{"t_ms":2,"dir":"in","raw":"x","raw":"y"}"#, "stands twice"),
        (#"{"t_ms":2,"dir":"in","raw":"x","\u0072aw":"y"}"#, "stands twice"),
        (#"{"t_ms":2,"dir":"in","raw":"x","rawBase64":"eA=="}"#, "both"),
        (#"{"t_ms":2,"dir":"in","rawBase64":"?"}"#, "not base64"),
        (#"{"t_ms":2,"dir":"in","raw":"\ud800"}"#, "half a surrogate pair"),
        (#"{"t_ms":2,"dir":"in","raw":"\ud800\u0041"}"#, "half a surrogate pair"),
        ("{\"t_ms\":2,\"dir\":\"in\",\"raw\":\"\t\"}", "control character"),
        (#"{"t_ms":2,"link":"ajar"}"#, "neither"),
        (#"{"t_ms":2,"link":"open","raw":"x"}"#, "no frame"),
        (#"{"t_ms":2,"path":"/tmp/a","op":"write","raw":"x"}"#, "status"),
        (String(repeating: "[", count: 100_000), "does not begin with {"),
        (#"{"t_ms":2,"x":"# + String(repeating: "[", count: 100_000), "ends"),
    ]

    @Test(arguments: broken)
    func aLineThatIsNoCaptureLineRefusesTheCapture(line: String, reason: String) throws {
        let text = #"{"t_ms":1,"dir":"in","raw":"{\"op\":10}"}"# + "\n" + line + (line.hasSuffix("x") ? "" : "\n")
        let error = error { _ = try source(text, kind: .gateway).allDrafts() }
        #expect(error?.code == .invalidCapture)
        #expect(error?.object.hasSuffix("capture.ndjson:2") == true)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        let items = try source(text + "\n{\"t_ms\":3,\"link\":\"open\"}", kind: .gateway, keepGoing: true).all()
        let skipped = items.compactMap { item -> String? in
            if case .skipped(let issue) = item { return issue.place }
            return nil
        }
        #expect(skipped.first?.hasSuffix("capture.ndjson:2") == true)
        #expect(items.count > skipped.count)
    }

    /// Whether a line fits is known only after the last one, by which the kind is guessed.
    @Test func aLineThatDoesNotFitTheGuessedKindRefusesTheCapture() throws {
        let text = #"""
            {"t_ms":1,"link":"open"}
            {"t_ms":2,"dir":"in","raw":"data: {}\n\n"}
            {"t_ms":3,"dir":"out","raw":"x"}

            """#
        let error = error { _ = try source(text).allDrafts() }
        #expect(error?.code == .invalidCapture)
        #expect(error?.object.hasSuffix("capture.ndjson:3") == true)
        let guessed = try source(text, keepGoing: true).allDrafts()
        let given = try source(text, kind: .sse, keepGoing: true).allDrafts()
        #expect(guessed == given && given.count == 2)
    }

    @Test func bytesThatAreNoTextRefuseTheCapture() throws {
        let line = Array(#"{"t_ms":1,"dir":"in","raw":""#.utf8) + [0xC3, 0x28] + Array("\"}\n".utf8)
        let error = error { _ = try source(line, kind: .gateway).allDrafts() }
        #expect(error?.code == .invalidCapture)
        #expect(error?.reason.contains("not UTF-8") == true)
    }

    @Test func whatIsNoFileOfLinesIsRefused() throws {
        #expect(error { _ = try source("").allDrafts() }?.reason == "it is empty")
        let folder = CaptureSource(path: directory.url.path, name: try SourceName("s"))
        #expect(error { _ = try folder.allDrafts() }?.reason.contains("directory") == true)
        let missing = CaptureSource(path: directory.path("none"), name: try SourceName("s"))
        #expect(error { _ = try missing.allDrafts() }?.code == .io)
    }

    /// A number that is closed twice belongs to another thread by then.
    @Test func anEmptyFileIsClosedOnce() throws {
        try Data().write(to: URL(fileURLWithPath: directory.path("empty")))
        let isDone = Atomic(false)
        let stolen = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            if thread == 0 {
                for _ in 0..<20_000 { _ = try? CaptureFile(path: directory.path("empty")) }
                isDone.store(true, ordering: .releasing)
            } else {
                while !isDone.load(ordering: .acquiring) {
                    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    for _ in 0..<10 where fcntl(descriptor, F_GETFD) < 0 {
                        stolen.add(1, ordering: .relaxed)
                        break
                    }
                    close(descriptor)
                }
            }
        }
        #expect(stolen.load(ordering: .relaxed) == 0)
    }

    static let guesses: [(raw: String, kind: CaptureKind?)] = [
        (#"{\"op\":10}"#, .gateway),
        (#"{\"topic\":\"phoenix\",\"event\":\"heartbeat\",\"payload\":{},\"ref\":\"1\"}"#, .realtime),
        (#"[null,\"1\",\"phoenix\",\"heartbeat\",{}]"#, .realtime),
        (#"[]"#, .items),
        (#"[{\"id\":\"1\",\"text\":\"x\"}]"#, .items),
        (#"{\"project\":\"p\",\"items\":[]}"#, .items),
        (#"retry: 3000\n\n"#, .sse),
        (#": hello\n"#, .sse),
        (#"hello"#, nil),
        (#""#, nil),
        (#"{\"a\":1}"#, nil),
    ]

    @Test(arguments: guesses)
    func theKindIsThatWhichFits(raw: String, kind: CaptureKind?) throws {
        let text = #"{"t_ms":1,"dir":"in","raw":"\#(raw)"}"# + "\n"
        if let kind {
            let drafts = try source(text).allDrafts()
            #expect(drafts.allSatisfy { $0.kind == kind.eventKind })
        } else {
            #expect(error { _ = try source(text).allDrafts() }?.code == .unknownKind)
        }
    }

    @Test func framesOfTwoKindsAreNotGuessed() throws {
        let text = #"{"t_ms":1,"dir":"in","raw":"{\"op\":10}"}"# + "\n" + #"{"t_ms":1,"dir":"in","raw":"[]"}"# + "\n"
        let error = error { _ = try source(text).allDrafts() }
        #expect(error?.code == .unknownKind)
        #expect(error?.reason.contains("gateway, items") == true)
        #expect(error?.advice.contains("--kind") == true)
    }

    @Test func aFrameOfTwentyMegabytesBecomesItsLengthAndHash() throws {
        let frame = [UInt8](repeating: 0x61, count: 20_000_000)
        let line = Array(#"{"t_ms":1,"dir":"in","raw":""#.utf8) + frame + Array("\"}\n".utf8)
        let drafts = try source(line, kind: .gateway).allDrafts()
        #expect(drafts.count == 1)
        #expect(drafts[0].kind == .recorderOversize)
        #expect(drafts[0].attributes["of"] == "gateway.frame/1")
        #expect(drafts[0].attributes["dir"] == "in")
        #expect(drafts[0].text == "{\"length\":20000000,\"sha256\":\"\(Hasher256.hash(frame).hex)\"}")
    }

    @Test func whatCanBeReadOnlyOnceIsReadToo() throws {
        let path = directory.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let text = (1...3_000).map { #"{"t_ms":\#($0),"dir":"in","raw":"{\"op\":\#($0)}"}"# }.joined(separator: "\n")
        Thread.detachNewThread { try? Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        let drafts = try CaptureSource(path: path, name: try SourceName("s")).allDrafts()
        #expect(drafts.count == 3_000)
        #expect(drafts.last?.text == #"{"op":3000}"#)
    }

    @Test func aLineOfManyBlocksIsReadWhole() throws {
        let texts = [0, 1, 255 << 10, 256 << 10, (256 << 10) + 1, 700_000].map { String(repeating: "ü", count: $0 / 2) }
        let lines = texts.map { #"{"t_ms":1,"dir":"in","raw":"\#($0)"}"# + "\r\n" }.joined()
        #expect(try source(lines, kind: .gateway).allDrafts().map(\.text) == texts)
    }
}
