#if Recorders
import EventLog
import JSON
import Playback
import Projections
import Synchronization
import Viewer

/// What `view` answers: the page to the browser that brought the token, and what that page asks for.
final class LogView: Sendable {
    /// What the page shows.
    enum Contents: Sendable {
        /// A page that holds all that it shows.
        case whole([UInt8])
        /// A page that asks for what it shows.
        case chunks(ViewedLog, ViewedAxis, ViewedWork)
    }

    let token = LogView.secret()
    /// What the browser shows from then on; a cookie.
    private let session = LogView.secret()
    /// The folder that the page is in. A browser gives a cookie to every port of a host, but only below its own path.
    private let place = "/\(LogView.secret())/"
    private let isTokenUsed = Mutex(false)
    private let contents: Contents

    init(_ contents: Contents) { self.contents = contents }

    /// 128 bits that nobody can guess.
    private static func secret() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .max / 16...(.max)), radix: 16) }.joined()
    }

    /// Makes what the first page asks for, before it does. What cannot be made is said when it is asked for.
    func prepare() async {
        guard case .chunks(let log, _, _) = contents else { return }
        try? await log.prepare()
    }

    func answer(_ request: HTTPService.Request) async -> HTTPService.Answer {
        // A page of elsewhere may give this machine's address a name of its own, and a browser sends no other origin than its own.
        guard let host = request.headers["host"], PlayGate.isLocal(host[...]),
            request.headers["origin"].map({ $0 == "http://\(host)" }) ?? true
        else { return .text("view answers this machine alone", status: 403) }
        // Only what the page itself sends may write, and a browser says where that comes from.
        let isFreezing = request.path == place + "freeze"
        guard request.method == (isFreezing ? "POST" : "GET"), !isFreezing || request.headers["origin"] != nil else {
            return .text("there is nothing but to read here", status: 405)
        }
        if request.path == "/", let given = request.parameter("token") { return enter(given) }
        let cookies = (request.headers["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        guard cookies.contains("view=\(session)") else {
            return .text("open the address that logtool view printed; it counts once", status: 403)
        }
        guard request.path.hasPrefix(place) else { return .text("there is no such page", status: 404) }
        do {
            return try await answer(String(request.path.dropFirst(place.count)), ViewRequest(request))
        } catch let mistake as ViewRequest.Mistake {
            return .text(mistake.text, status: 400)
        } catch {
            return .text("\(error)", status: 409)
        }
    }

    private static let headers = [
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
    ]

    /// Takes the token, once, and gives the cookie for it.
    private func enter(_ given: String) -> HTTPService.Answer {
        let isNew = isTokenUsed.withLock { isUsed in
            guard given == token, !isUsed else { return false }
            isUsed = true
            return true
        }
        guard isNew else { return .text("this address counts once, and only as it was printed", status: 403) }
        let cookie = "view=\(session); HttpOnly; SameSite=Strict; Path=\(place)"
        return HTTPService.Answer(status: 303, headers: Self.headers + [("Set-Cookie", cookie), ("Location", place)])
    }

    private static func page(_ body: [UInt8]) -> HTTPService.Answer {
        HTTPService.Answer(headers: headers, type: "text/html; charset=utf-8", body: body)
    }

    private static func lines(_ body: [UInt8]) -> HTTPService.Answer {
        HTTPService.Answer(headers: headers, type: "application/x-ndjson", body: body)
    }

    private static func document(_ members: JSONObject) -> HTTPService.Answer {
        HTTPService.Answer(headers: headers, type: "application/json", body: Array(JSONValue.object(members).text.utf8))
    }

    /// - Throws: `ViewRequest.Mistake` for a parameter that is missing or no value; what the log throws.
    private func answer(_ name: String, _ request: ViewRequest) async throws -> HTTPService.Answer {
        switch (contents, name) {
        case (.whole(let page), ""): Self.page(page)
        case (.whole, _): .text("there is no such page", status: 404)
        case (.chunks(_, _, let work), "bisect"), (.chunks(_, _, let work), "freeze"),
            (.chunks(_, _, let work), "reads"):
            Self.document(try await answer(name, request, work))
        case (.chunks(let log, let axis, _), _): try await answer(name, request, log, axis)
        }
    }

    private func answer(_ name: String, _ request: ViewRequest, _ work: ViewedWork) async throws -> JSONObject {
        switch name {
        case "bisect":
            guard let when = request.text("when"), !when.isEmpty else { throw ViewRequest.Mistake("when") }
            let (good, bad) = (try request.number("good"), try request.number("bad"))
            return try await work.bisect(good: good, bad: bad, when: when)
        case "freeze": return try await work.freeze(through: request.number("at"), as: request.text("name") ?? "")
        default: return try await work.reads(at: request.number("at"))
        }
    }

    private func answer(
        _ name: String,
        _ request: ViewRequest,
        _ log: ViewedLog,
        _ axis: ViewedAxis
    ) async throws -> HTTPService.Answer {
        switch name {
        case "":
            var page: [UInt8] = []
            let header = try await log.header()
            try Report { page += $0 }.write(
                title: log.title,
                isServed: true,
                export: { _ in },
                steps: { try $0(header) }
            )
            return Self.page(page)
        case "head": return Self.lines(try await log.header())
        case "chunk":
            let places = Set(try request.place.map { [$0] } ?? [])
            let (from, to) = (try request.number("from"), try request.number("to"))
            let rows = Int(try request.number("rows", else: 60))
            let left = try request.text("without").map { _ in try request.number("without") }
            if left == nil, request.text("at") != nil,
                let step = try log.step(at: request.number("at"), rows: rows)
            {
                return Self.lines(step)
            }
            return Self.lines(try await log.chunk(from, to, of: places, rows: rows, without: left))
        case "axis":
            let (all, place) = (try await log.range(), try request.place)
            let (from, to) = (
                try request.number("from", else: all.lowerBound), try request.number("to", else: all.upperBound)
            )
            guard from <= to, all.contains(from), all.contains(to) else { throw ViewRequest.Mistake("from to") }
            let count = min(max(try request.number("buckets", else: 600), 1), UInt64(ViewedAxis.bucketsMax))
            return Self.document(try await axis.axis(from...to, count: Int(count), of: place))
        case "next":
            let (after, isBack) = (try request.number("from"), request.text("back") != nil)
            let found = try await axis.next(from: after, isBack: isBack, of: try request.place)
            let isServed = try await found.map(log.range().contains) ?? false
            return Self.document(["sequence": isServed ? .text(found.map(String.init)) : .null])
        case "search":
            guard let text = request.text("text"), !text.isEmpty else { throw ViewRequest.Mistake("text") }
            return Self.document(try await log.search(text, from: try request.number("from", else: 1)))
        case "history":
            guard let thing = request.text("entity").flatMap({ EntityReference($0) }) else {
                throw ViewRequest.Mistake("entity")
            }
            return Self.document(try await log.history(of: thing))
        case "proof":
            let body = try await log.proof(of: try request.number("at"))
            return HTTPService.Answer(headers: Self.headers, type: "application/json", body: body)
        case "connection": return Self.document(try await axis.connection(of: try request.number("at")))
        case "day":
            guard let range = try await log.day(request.text("date") ?? "") else {
                return .text("there is no event on that day", status: 404)
            }
            return Self.document([
                "from": .string(String(range.lowerBound)), "to": .string(String(range.upperBound)),
            ])
        default: return .text("there is no such page", status: 404)
        }
    }
}

/// The parameters of a request, read strictly.
struct ViewRequest {
    /// A parameter that is missing or no value.
    struct Mistake: Error {
        let text: String

        init(_ name: String) { text = "the request has no \(name) that can be answered" }
    }

    private let request: HTTPService.Request
    /// Longer texts are no parameters of the page.
    private static let bytesMax = 4096

    init(_ request: HTTPService.Request) { self.request = request }

    /// A text, decoded; `nil` without it, and where it is too long.
    func text(_ name: String) -> String? {
        guard let sent = request.parameter(name), sent.utf8.count <= Self.bytesMax else { return nil }
        return String(decoding: PercentEncoding.decoded(Array(sent.utf8)), as: UTF8.self)
    }

    func number(_ name: String, else preset: UInt64? = nil) throws -> UInt64 {
        guard let sent = request.parameter(name) else {
            if let preset { return preset }
            throw Mistake(name)
        }
        guard sent.utf8.count <= 18, sent.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(sent)
        else {
            throw Mistake(name)
        }
        return number
    }

    /// The place that is asked for, if one is.
    var place: PlaceName? {
        get throws {
            guard request.parameter("place") != nil else { return nil }
            guard let place = text("place").flatMap({ PlaceName($0) }) else { throw Mistake("place") }
            return place
        }
    }
}
#endif
