#if Recorders
public import EventLog
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records Server-Sent Events: every event's bytes as they came, and a gap for each time without a connection.
///
/// Connects again after each end, after 1 s, then after twice as long each time up to 30 s, or after the remote's
/// `retry` if that is longer. A connection's first event resets this. Status 204 ends the recording for good; 408, 429
/// and 5xx are waited out; any other answer that is not an event stream is an error, unless the address gave one
/// before: then it is waited out, too.
public struct EventStreamSource: LiveSource {
    /// The recorder's name in the log.
    public let name: SourceName
    /// The whole URL; its query may be secret (I14).
    private let url: String
    /// The path alone, for events.
    private let path: String
    private let token: TokenSource?
    private let follows: Bool

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - token: sent as `Authorization: Bearer`; read anew for each connection.
    ///   - follows: whether to connect again after the remote has ended the stream.
    /// - Throws: `IngestError` with code `invalidArgument` if the URL cannot be used.
    public init(url: String, name: SourceName, token: TokenSource? = nil, follows: Bool) throws {
        let place = try HTTPAddress(url, operation: "ingest sse")
        self.url = url
        path = place.path
        self.name = name
        self.token = token
        self.follows = follows
    }

    /// Checks that the token can be read.
    public func check() async throws {
        _ = try await token?.fresh()
    }

    /// Records until it is cancelled or the remote answers 204; without `follows`, until the stream ends.
    public func run(_ recording: Recording) async throws {
        recording.secrets.note(url: url)
        let journal = try ConnectionJournal(
            source: name,
            kind: .serverSentEvent,
            history: recording.history,
            secrets: recording.secrets,
            clock: recording.clock
        )
        var session = EventStreamSession(recording, journal: journal, path: path)
        do {
            try await listen(&session, token?.noted(in: recording.secrets))
            try await session.stop()
        } catch {
            try await session.stop(error)
            throw error
        }
    }

    /// Connects again and again; returns once nothing more is wanted.
    private func listen(_ session: inout EventStreamSession, _ token: TokenSource?) async throws {
        try session.beginRun()
        while true {
            do {
                let request = try await request(&session, token)
                let stream = try await session.http.openFollowingRedirects(request, keeping: session.secrets)
                guard try await session.take(stream, path: path, waits: follows) else { return }
            } catch let trouble as HTTPTrouble {
                try await session.lost(trouble.description)
                guard follows else { throw session.unreachable(trouble) }
            }
            guard follows else { return }
            try await session.wait()
        }
    }

    private func request(
        _ session: inout EventStreamSession,
        _ token: TokenSource?
    ) async throws -> HTTPAccess.Request {
        var headers = [(name: "Accept", value: "text/event-stream"), (name: "Cache-Control", value: "no-store")]
        // The token first: whether the id may be sent depends on it.
        if let token { headers.append((name: "Authorization", value: "Bearer \(try await token.fresh())")) }
        if let id = session.nextLastEventID() { headers.append((name: "Last-Event-ID", value: id)) }
        return HTTPAccess.Request(url: url, headers: headers)
    }
}
#endif
