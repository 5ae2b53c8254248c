#if Recorders
import EventLog
import Foundation
import JSON
import TestSupport
import Testing

/// Traffic of an app that nobody knows, given back to clients that other people wrote.
@Suite(.hangGuard) struct PlayGenericTests {
    private let bench: PlayBench

    init() throws {
        bench = try PlayBench()
    }

    private static let python = ProcessInfo.processInfo.environment["EVENTLOG_PYTHON"] ?? "/usr/bin/python3"
    private static let hasClients = PythonPeer.isInstalled("aiohttp, websockets")
    private static let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

    private static func draft(
        _ number: Int,
        _ kind: String,
        _ attributes: [String: String],
        _ payload: [UInt8] = []
    ) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(microseconds: 1_767_225_600_000_000 + Int64(number) * 1_000),
            source: try SourceName("chat"),
            kind: try EventKind(kind),
            key: try EventKey("\(number)"),
            attributes: try Attributes(attributes.map { Attributes.Pair(name: $0.key, value: $0.value) }),
            payload: payload
        )
    }

    /// Two sockets whose frames interleave, one of which ends with a code of its own; frames of text and of bytes.
    private func makeSockets() throws -> [String: [[UInt8]]] {
        var drafts: [DraftEvent] = []
        var frames: [String: [[UInt8]]] = ["/live?room=1": [], "/presence": []]
        func add(_ kind: String, _ path: String, _ attributes: [String: String], _ payload: [UInt8] = []) throws {
            let own = ["connection": path == "/presence" ? "b" : "a", "path": path]
            let all = attributes.merging(own) { given, _ in given }
            drafts.append(try Self.draft(drafts.count, kind, all, payload))
        }
        for path in frames.keys.sorted() { try add("recorder.link/1", path, ["link": "open"]) }
        for number in 0..<200 {
            let path = number % 3 == 0 ? "/presence" : "/live?room=1"
            if number % 20 == 1 { try add("ws.frame/1", path, ["dir": "out"], Array("{\"ask\":1}".utf8)) }
            let isBinary = number % 7 == 0
            let payload = isBinary ? [0xFF, UInt8(number), 0x00] : Array("{\"grün\": \(number)}\n".utf8)
            try add("ws.frame/1", path, ["dir": "in"], payload)
            frames[path, default: []].append(payload)
        }
        try add("recorder.link/1", "/live?room=1", ["link": "close", "code": "4001", "reason": "closed by the peer"])
        try bench.makeLog("A", drafts)
        return frames
    }

    private func clients(_ form: String, _ url: String, _ what: [String]) throws -> [JSONValue] {
        let script = PackageRoot.url.appending(path: "Fixtures/peers/generic_clients.py").path
        let run = try ToolRun.run([script, form, url] + what, in: bench.folder, program: URL(filePath: Self.python))
        #expect(run.exitCode == 0, "\(run.errors)")
        return try run.output.split(separator: "\n").map { try JSONValue.parse(String($0)) }
    }

    private static func coded(_ payloads: [[UInt8]]) -> [String] { payloads.map { Data($0).base64EncodedString() } }

    @Test(.enabled(if: hasClients, "it needs python3 with aiohttp and websockets"))
    func socketsOfAnyAppGiveTheirFramesToClientsOfAnotherLibrary() async throws {
        let frames = try makeSockets()
        let (player, address) = try await bench.play("A", ["--as", "ws", "--speed", "max", "--json"])
        // The query of the second is another than the recorded one, as where a token was not recorded.
        let paths = ["/presence", "/live?room=1&token=x"]
        let recorded = [try #require(frames["/presence"]), try #require(frames["/live?room=1"])]
        let got = try clients(
            "ws",
            "ws://\(address)",
            ["\(paths[0])=\(recorded[0].count)=3", "\(paths[1])=\(recorded[1].count)=-7"]
        )
        for (answer, payloads) in zip(got, recorded) {
            #expect(answer["got"]?.array?.compactMap(\.string) == Self.coded(payloads))
            #expect(answer["binary"]?.array?.compactMap(\.bool) == payloads.map { $0[0] == 0xFF })
            #expect(answer["protocol"]?.string == "chat.v1")
        }
        #expect(got.count == 2)
        #expect(got.last?["code"]?.number?.text == "4001")
        let report = try JSONValue.parse(player.end(SIGTERM).output)
        #expect(report["given"]?.number?.text == "200")
        #expect(report["done"]?.bool == true)
        #expect(report["divergences"]?.array?.isEmpty == true, "\(report)")
    }

    /// A client that says nothing costs each connection one second at most, and the report tells of it.
    @Test(.enabled(if: hasClients, "it needs python3 with aiohttp and websockets"))
    func aClientThatSendsNothingGetsAllFramesAndAPathThatNoSocketHadIsClosed() async throws {
        let frames = try makeSockets()
        let (player, address) = try await bench.play("A", ["--as", "ws", "--speed", "max", "--json"])
        let live = try #require(frames["/live?room=1"])
        let got = try clients("ws", "ws://\(address)", ["/else=0=-0", "/live?room=1=\(live.count)=-0"])
        #expect(got.first?["code"]?.number?.text == "1008")
        #expect(got.last?["got"]?.array?.compactMap(\.string) == Self.coded(live))
        let report = try JSONValue.parse(player.end(SIGTERM).output)
        let notes = report["divergences"]?.array?.compactMap { $0["client"]?.string } ?? []
        #expect(notes == ["opened /else", "0"])
        #expect(report["done"]?.bool == false)
    }

    /// What a client did not get, the next one of its path gets, in order.
    @Test(.enabled(if: hasClients, "it needs python3 with aiohttp and websockets"))
    func aClientThatComesBackGoesOnWhereItWas() async throws {
        let frames = try makeSockets()
        let (player, address) = try await bench.play("A", ["--as", "ws", "--step", "--json"])
        let live = try #require(frames["/live?room=1"])
        _ = try bench.get(address, "/_play/step?n=5", method: "POST")
        let first = try clients("ws", "ws://\(address)", ["/live?room=1=4=7"])
        #expect(first[0]["got"]?.array?.compactMap(\.string) == Self.coded(Array(live.prefix(4))))
        _ = try bench.get(address, "/_play/step?n=1000", method: "POST")
        let second = try clients("ws", "ws://\(address)", ["/live?room=1=\(live.count - 4)=-7"])
        #expect(second[0]["got"]?.array?.compactMap(\.string) == Self.coded(Array(live.dropFirst(4))))
        #expect(second[0]["code"]?.number?.text == "4001")
        _ = player.end(SIGTERM)
    }

    private func makeAnswers() throws {
        let answers: [(String, String, String, String)] = [
            ("GET", "/api/list?page=1", "200", "{\"grün\":1}"), ("GET", "/api/list?page=2", "200", "[ 2 ]"),
            ("GET", "/api/list?page=1", "500", "{\"again\":1}"), ("POST", "/api/posts", "201", "{\"id\":7}"),
            ("DELETE", "/api/posts/7", "204", "{}"), ("GET", "/api/me?token=REDACTED", "304", "{}"),
        ]
        var drafts = try answers.enumerated().map { number, answer in
            let attributes = ["dir": "in", "method": answer.0, "path": answer.1, "status": answer.2]
            return try Self.draft(number, "http.answer/1", attributes, Array(answer.3.utf8))
        }
        let asked = ["dir": "out", "method": "POST", "path": "/api/posts"]
        drafts.append(try Self.draft(drafts.count, "http.answer/1", asked, Array("{\"secret\":1}".utf8)))
        try bench.makeLog("A", drafts)
    }

    @Test(.enabled(if: hasClients, "it needs python3 with aiohttp and websockets"))
    func answersOfAnyAppGoByMethodPathAndQuery() async throws {
        try makeAnswers()
        let (player, address) = try await bench.play("A", ["--as", "http", "--json"])
        let asked = [
            "POST /api/posts", "GET /api/list?page=2", "GET /api/list?page=1", "GET /api/list?page=1",
            "GET /api/list?page=3", "PUT /api/posts", "DELETE /api/posts/7", "GET /api/me?token=other",
            "GET /api/list?page=2",
        ]
        let got = try clients("http", "http://\(address)", asked).map { answer in
            let body = Data(base64Encoded: answer["body"]?.string ?? "") ?? Data()
            return "\(answer["status"]?.number?.text ?? "") \(String(decoding: body, as: UTF8.self))"
        }
        let none = "404 {\"message\":\"the recording has no answer to this\"}"
        #expect(
            got == [
                "201 {\"id\":7}", "200 [ 2 ]", "200 {\"grün\":1}", "500 {\"again\":1}", none, none, "204 ", "304 ",
                "200 [ 2 ]",
            ]
        )
        let report = try JSONValue.parse(player.end(SIGTERM).output)
        #expect(report["done"]?.bool == true)
        #expect(report["answers"]?["missing"]?.number?.text == "2")
    }

    @Test(.enabled(if: hasCurl, "it needs curl"))
    func curlGetsAnswersAndTheEventsOfSeveralStreams() async throws {
        try makeAnswers()
        let (player, address) = try await bench.play("A", ["--as", "http", "--once"])
        #expect(try bench.get(address, "/api/list?page=1") == "{\"grün\":1}")
        #expect(try bench.get(address, "/api/posts", method: "POST", body: "{}", showsStatus: true) == "{\"id\":7}201")
        _ = player.end(SIGTERM)
        var drafts: [DraftEvent] = []
        for number in 0..<20 {
            let name = number % 2 == 0 ? "even" : "odd"
            let payload = Array("id: \(number)\ndata: {\"grün\":\(number)}\n\n".utf8)
            let attributes = ["connection": name, "path": "/streams/\(name)"]
            drafts.append(try Self.draft(number, "sse.event/1", attributes, payload))
        }
        for name in ["even", "odd"] {
            let end = ["link": "close", "reason": "the server ended the stream", "connection": name]
            drafts.append(try Self.draft(drafts.count, "recorder.link/1", end))
        }
        try bench.makeLog("S", drafts)
        let (streams, place) = try await bench.play("S", ["--as", "sse", "--speed", "max", "--once"])
        for (name, parity) in [("odd", 1), ("even", 0)] {
            let expected = (0..<20).filter { $0 % 2 == parity }.map { "id: \($0)\ndata: {\"grün\":\($0)}\n\n" }.joined()
            #expect(try bench.get(place, "/streams/\(name)") == expected)
        }
        // The streams ended as the recorded ones did, so the last client has gone.
        while streams.isRunning { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test func stepsDoNotGoWithAnswers() throws {
        try makeAnswers()
        let run = try ToolRun.run(["play", "A", "--as", "http", "--step"], in: bench.folder)
        #expect(run.exitCode == 2)
    }
}
#endif
