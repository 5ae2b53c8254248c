#if Recorders
import ArgumentParser
import Clients
import EventLog
import JSON
import Playback
import Projections
import Synchronization
import UnixSignals
import Viewer

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension ViewCommand {
    /// Makes the page, prints its address and serves it until a signal comes.
    ///
    /// - Throws: `ExitCode` 128 + signal; `Failure` with exit code 1 if nothing fits the selectors.
    func run() async throws {
        let store = try decoders.used(in: log.open(isQuiet: output.quiet), isQuiet: output.quiet)
        let progress = output.progress("making the page")
        let view = try LogView(
            store,
            title: Directory.split(log.path).name,
            choice: store.read { try ReportChoice(selectors, in: $0, progress) },
            // What comes later can fit only where nothing but the beginning was chosen.
            follows: Set(selectors.given).isSubset(of: ["--from"]) && other.against == nil,
            reading: reading.profile,
            against: other.against
        )
        progress.end()
        let address = listening.listen ?? .free
        let service = HTTPService(host: address.host, port: address.port) { view.answer($0) }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let signal = try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await service.run { listening.yield($0) }
                return nil
            }
            group.addTask {
                for await signal in signals { return signal == .sigint ? SIGINT : SIGTERM }
                return nil
            }
            defer { group.cancelAll() }
            var open = ports.makeAsyncIterator()
            if let port = await open.next() { try say(address.host, port, view.token) }
            return try await group.next() ?? nil
        }
        if let signal { throw ExitCode(128 + signal) }
    }
}

extension ViewCommand {
    /// Prints the address that the browser opens.
    private func say(_ host: String, _ port: Int, _ token: String) throws {
        let output = output.standardOutput
        try output.line("http://\(host.contains(":") ? "[\(host)]" : host):\(port)/?token=\(token)")
        try output.flush()
    }
}

/// What `view` answers: the page to the browser that brought the token, and what was appended since.
private final class LogView: Sendable {
    let token = LogView.secret()
    /// What the browser shows from then on; a cookie.
    private let session = LogView.secret()
    /// The folder that the page is in. A browser gives a cookie to every port of a host, but only below its own path.
    private let place = "/\(LogView.secret())/"
    private let isTokenUsed = Mutex(false)
    private let store: EventStore
    private let reading: Profile
    private let follows: Bool
    private let page: [UInt8]

    init(
        _ store: EventStore,
        title: String,
        choice: ReportChoice,
        follows: Bool,
        reading: Profile,
        against other: Profile?
    ) throws {
        var page: [UInt8] = []
        try store.read {
            try choice.write($0, title: title, reading: reading, against: other, isServed: true) { page += $0 }
        }
        (self.store, self.reading, self.follows, self.page) = (store, reading, follows, page)
    }

    /// 128 bits that nobody can guess.
    private static func secret() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .max / 16...(.max)), radix: 16) }.joined()
    }

    func answer(_ request: HTTPService.Request) -> HTTPService.Answer {
        // A page of elsewhere may give this machine's address a name of its own, and a browser sends no other origin than its own.
        guard let host = request.headers["host"], PlayGate.isLocal(host[...]),
            request.headers["origin"].map({ $0 == "http://\(host)" }) ?? true
        else { return .text("view answers this machine alone", status: 403) }
        guard request.method == "GET" else { return .text("there is nothing but to read here", status: 405) }
        if request.path == "/", let given = request.parameter("token") { return enter(given) }
        let cookies = (request.headers["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        guard cookies.contains("view=\(session)") else {
            return .text("open the address that logtool view printed; it counts once", status: 403)
        }
        switch request.path {
        case place:
            return HTTPService.Answer(headers: Self.headers, type: "text/html; charset=utf-8", body: page)
        case place + "more": return more(after: request.parameter("after").flatMap { UInt64($0) })
        default: return .text("there is no such page", status: 404)
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

    /// The lines of the export and the steps behind an event, mixed; nothing if there are none.
    private func more(after last: UInt64?) -> HTTPService.Answer {
        guard let last else { return .text("say after which event", status: 400) }
        do {
            var lines: [UInt8] = []
            try store.read { session in
                guard follows, last < session.head.rawValue else { return }
                let range = SequenceNumber(last + 1)...min(session.head, SequenceNumber(last + Self.stepsMax))
                var writer = ExportWriter()
                try session.forEachEvent(in: range) { event in
                    try session.check(event)
                    lines += writer.line(event)
                    return true
                }
                let options = StateQuery(profile: reading).replayOptions
                // The first line is a header, the second the state that the page has.
                var passed = 0
                try Steps(title: "", range: range, options: options).write(of: session) { line in
                    passed += 1
                    if passed > 2 { lines += line }
                }
            }
            return HTTPService.Answer(headers: Self.headers, type: "application/x-ndjson", body: lines)
        } catch {
            return .text("\(error)", status: 409)
        }
    }

    private static let stepsMax: UInt64 = 1000
}
#endif
