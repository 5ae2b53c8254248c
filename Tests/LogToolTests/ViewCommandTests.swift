#if Recorders
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
        #expect(try await get(page + "more?after=22", session).text.isEmpty)
        #expect(try await get(page + "more?after=22").status == 403)
        #expect(try await get(page + "more", session).status == 400)
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
        let cookie = try #require(entry.cookie?.prefix { $0 != ";" })
        let more = try #require(entry.location).dropFirst() + "more?after="
        try ingestMore()
        let lines = try await get(more + "22", ["Cookie": String(cookie)]).text.split(separator: "\n")
        #expect(lines.count == 6 && lines.count { $0.contains("\"changes\"") } == 3)
        #expect(lines.filter { $0.contains("message 901") }.count == 2)
        #expect(try await get(more + "24", ["Cookie": String(cookie)]).text.split(separator: "\n").count == 2)
        let compacted = try ToolRun.run(["compact", "L", "--keep", "1", "--force", "--quiet"], in: folder)
        #expect(compacted.exitCode == 0)
        #expect(try await get(more + "3", ["Cookie": String(cookie)]).status == 409)
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
