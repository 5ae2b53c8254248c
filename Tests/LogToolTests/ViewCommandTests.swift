#if Recorders
import Chromium
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `view` serves a page of a log to the browser that brings the token, and what is appended later.
@Suite(.hangGuard) struct ViewCommandTests {
    private let folder: TemporaryDirectory
    private let view: ToolProcess
    /// The address that was printed, without its query, and the token.
    private let (base, token): (String, String)

    init() async throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 20)
        view = try ToolProcess(["view", "L"], in: folder)
        while view.isRunning, !view.output.hasSuffix("\n") { try await Task.sleep(for: .milliseconds(20)) }
        let parts = view.output.split(whereSeparator: \.isNewline).first?.components(separatedBy: "?token=") ?? []
        (base, token) = (try #require(parts.first), try #require(parts.last))
    }

    private struct Answer {
        let status: Int
        let text: String
        let cookie: String?
        let location: String?
    }

    private func get(_ path: String, _ headers: [String: String] = [:], method: String = "GET") async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: base + path)))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        let session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        return Answer(
            status: answer.statusCode,
            text: String(decoding: data, as: UTF8.self),
            cookie: answer.value(forHTTPHeaderField: "Set-Cookie"),
            location: answer.value(forHTTPHeaderField: "Location")
        )
    }

    private final class NoRedirects: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }

    private func ingestMore() throws {
        try folder.write((900...902).map { SampleCaptures.line($0, SampleCaptures.message($0)) }.joined(), to: "more")
        let run = try ToolRun.run(["ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func theTokenCountsOnceAndTheCookieAfterwards() async throws {
        #expect(try await get("").status == 403)
        #expect(try await get("?token=\(String(token.reversed()))x").status == 403)
        let entry = try await get("?token=\(token)")
        let place = try #require(entry.location)
        #expect(entry.status == 303 && place.count > 20)
        let cookie = try #require(entry.cookie)
        // Another server of this machine, on another port, does not get it.
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.hasSuffix("Path=\(place)"))
        let page = String(place.dropFirst())
        #expect(try await get("?token=\(token)").status == 403)
        let session = ["Cookie": "other=1; " + String(cookie.prefix { $0 != ";" })]
        let answer = try await get(page, session)
        #expect(answer.status == 200 && answer.text.hasPrefix("<!DOCTYPE html>"))
        #expect(answer.text.contains("connect-src 'self'"))
        #expect(try await get(page).status == 403)
        #expect(try await get(page + "chunk?from=1&to=22", session).text.hasPrefix("{\"format\":\"eventlog.steps/1\""))
        #expect(try await get(page + "chunk?from=1&to=22").status == 403)
        #expect(try await get(page + "chunk?from=1", session).status == 400)
        #expect(try await get("L", session).status == 404)
        #expect(try await get("", session).status == 404)
        #expect(try await get(page, session, method: "POST").status == 405)
        for other in [["Origin": "http://evil.example"], ["Origin": "http://127.0.0.1:1"], ["Host": "evil.example"]] {
            #expect(try await get(page, session.merging(other) { $1 }).status == 403, "\(other)")
        }
        // Nothing of it is in the log's folder, and nothing was appended.
        #expect(try ToolRun.run(["root", "L"], in: folder).output.hasPrefix("22 "))
        #expect(view.end(SIGINT).exitCode == 130)
    }

    @Test func whatIsAppendedIsGiven() async throws {
        let entry = try await get("?token=\(token)")
        let session = ["Cookie": String(try #require(entry.cookie?.prefix { $0 != ";" }))]
        let place = String(try #require(entry.location).dropFirst())
        #expect(try await get(place + "head", session).text.contains("\"to\":\"22\""))
        try ingestMore()
        #expect(try await get(place + "head", session).text.contains("\"to\":\"25\""))
        let lines = try await get(place + "chunk?from=23&to=25", session).text.split(separator: "\n")
        // The header, the state before, and an event and a step for each.
        #expect(lines.count == 8 && lines.count { $0.contains("\"changes\"") } == 4)
        #expect(lines.filter { $0.contains("message 901") }.count == 2)
        #expect(lines[1].contains("message:guild/10/1020") && lines[1].contains("\"sequence\":\"22\""))
        let compacted = try ToolRun.run(["compact", "L", "--keep", "1", "--force", "--quiet"], in: folder)
        #expect(compacted.exitCode == 0)
        #expect(try await get(place + "chunk?from=3&to=4", session).status == 409)
    }

    /// What no page asks is refused, and nothing that is asked for has no bound.
    @Test func questionsAreBounded() async throws {
        let entry = try await get("?token=\(token)")
        let session = ["Cookie": String(try #require(entry.cookie?.prefix { $0 != ";" }))]
        let place = String(try #require(entry.location).dropFirst())
        for wrong in [
            "chunk?from=x&to=2", "chunk?from=-1&to=2", "chunk?from=1&to=99999999999999999999",
            "chunk?from=1&to=2&place=nothing",
            "chunk?from=1&to=2&rows=1e9", "axis?from=5&to=2", "axis?from=1&to=99", "search?text=", "search?from=1",
            "proof",
            "history?entity=x", "next", "search?text=\(String(repeating: "a", count: 5000))",
        ] { #expect(try await get(place + wrong, session).status == 400, "\(wrong)") }
        for beyond in [
            "chunk?from=0&to=2", "chunk?from=20&to=23", "chunk?from=9&to=3", "proof?at=99", "day?date=tomorrow",
        ] {
            #expect(try await get(place + beyond, session).status == 409, "\(beyond)")
        }
        let found = try await get(place + "search?text=MESSAGE%201&from=3", session).text
        #expect(
            found.contains("\"next\":null") == false && found.contains("message 10") && !found.contains("message 2\"")
        )
        #expect(try await get(place + "next?from=0&place=message:guild/10", session).text.contains("\"2\""))
        #expect(try await get(place + "next?from=99", session).text == "{\"sequence\":null}")
        #expect(try await get(place + "axis?buckets=4", session).text.contains("\"counts\":["))
        #expect(try await get(place + "chunk?from=1&to=2&rows=99999999", session).status == 200)
        #expect(try await get(place + "day?date=2026-01-01", session).text == "{\"from\":\"1\",\"to\":\"22\"}")
        #expect(try await get(place + "day?date=2027-01-01", session).status == 404)
        for one in ["head", "axis", "search?text=a", "proof?at=1"] {
            #expect(try await get(place + one).status == 403)
            let other = session.merging(["Origin": "http://evil.example"]) { $1 }
            #expect(try await get(place + one, other).status == 403)
        }
    }

    @Test(.enabled(if: ReportCommandTests.chromium != nil, "chromium is not installed"))
    func aBrowserFollowsTheLog() async throws {
        try ingestMore()
        let dom = try ReportCommandTests.dom(of: "\(base)?token=\(token)", in: folder)
        #expect(dom.contains("<h2>Event 25</h2>") && dom.contains("message 902"))
        let again = try ReportCommandTests.dom(of: "\(base)?token=\(token)", in: folder)
        #expect(again.contains("counts once"))
    }

    @Test func otherHostsAreRefused() throws {
        let run = try ToolRun.run(["view", "L", "--listen", "0.0.0.0:0"], in: folder)
        #expect(run.exitCode == 2, "\(run.errors)")
        #expect(try ToolRun.run(["view", "nowhere"], in: folder).exitCode == 10)
    }
}
#endif
