#if Recorders
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// HTTP and TLS for all recorders of a process, without cache, cookies, proxy or automatic redirects.
///
/// Each request accepts only the coding `identity`, so that bodies are the remote's own bytes (I2). Answers in another
/// coding are not used.
public final class HTTPAccess: Sendable {
    /// The event loops, also for WebSockets.
    let group: any EventLoopGroup
    /// The TLS context with the caller's root certificates; `nil` for the system's.
    let trust: NIOSSLContext?
    /// Gives up an answer after `readTimeout` of silence.
    private let client: HTTPClient
    /// Waits for a body's bytes without a limit.
    private let streamingClient: HTTPClient

    /// The most bytes of a body that is not streamed; a larger one is an error.
    static let bodyBytesMax = 128 << 20
    /// The longest that making a connection may take.
    private static let connectTimeout = TimeAmount.seconds(15)
    /// How long a request that spends something, such as a token, goes on after its caller is cancelled.
    static let cancellationGrace = Duration.seconds(5)
    /// The silence after which an answer is given up; a stream has no such limit.
    private static let readTimeout = TimeAmount.seconds(60)

    /// Makes an access.
    ///
    /// - Parameter trustFile: a file of root certificates in PEM that replace the system's.
    /// - Throws: `IngestError` with code `io` if the file cannot be read or holds no certificate.
    public convenience init(trustFile: String? = nil) throws {
        try self.init(trustFile: trustFile, readTimeout: Self.readTimeout)
    }

    /// The same with another read timeout.
    init(trustFile: String? = nil, readTimeout: TimeAmount) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let trustFile { tls.trustRoots = .certificates(try Self.certificates(in: trustFile)) }
        let group = MultiThreadedEventLoopGroup.singleton
        self.group = group
        // Without a file each connection makes a context with the system's certificates.
        trust = try trustFile == nil ? nil : NIOSSLContext(configuration: tls)
        client = Self.client(group, tls, read: readTimeout)
        streamingClient = Self.client(group, tls, read: nil)
    }

    /// Shuts the clients down, because `HTTPClient` traps if it is released while it runs, also on an error path.
    deinit {
        for client in [client, streamingClient] { client.shutdown { _ in } }
    }

    /// Closes all connections. Call it before the last reference is released.
    public func shutdown() async throws {
        try await client.shutdown()
        try await streamingClient.shutdown()
    }

    private static func client(_ group: any EventLoopGroup, _ tls: TLSConfiguration, read: TimeAmount?) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: .init(connect: connectTimeout, read: read),
            decompression: .disabled
        )
        // The keep-alive below is set on connections of HTTP/1.1 alone.
        configuration.httpVersion = .http1Only
        // Callers decide when to try again, and wait by their own clock.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { KeepAlive.set(on: $0) }
        return HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    private static func certificates(in path: String) throws -> [NIOSSLCertificate] {
        let found = try? NIOSSLCertificate.fromPEMFile(path)
        guard let found, !found.isEmpty else {
            throw IngestError(
                .io,
                operation: "read certificates",
                object: path,
                reason: "the file cannot be read or holds no certificate in PEM",
                advice: "name a file with --ca-file that begins with -----BEGIN CERTIFICATE-----"
            )
        }
        return found
    }
}

extension HTTPAccess {
    /// One request.
    struct Request: Sendable {
        var method = "GET"
        var url: String
        /// May hold secrets: never logged, never part of an error (I14).
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
    }

    /// An answer with its whole body.
    struct Answer: Sendable {
        var status: Int
        var headers: Headers
        var body: [UInt8] = []
    }

    /// An answer whose body is still to be read.
    struct Stream: Sendable {
        let status: Int
        let headers: Headers
        let body: HTTPClientResponse.Body
    }

    /// The header fields of an answer.
    struct Headers: Sendable {
        private let fields: HTTPHeaders

        init(_ fields: HTTPHeaders) {
            self.fields = fields
        }

        /// The first field called `name`, in upper or lower case.
        subscript(name: String) -> String? { fields.first(name: name) }

        /// True if the body comes in another coding than `identity`, the only one that requests accept.
        var isCoded: Bool {
            fields[canonicalForm: "content-encoding"].contains { !$0.isEmpty && $0.lowercased() != "identity" }
        }

        /// All fields, with names in lower case. Keeps the first of several fields with one name.
        var dictionary: [String: String] {
            Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
        }
    }

    /// Sends a request and reads the whole answer.
    ///
    /// - Throws: `CancellationError`; `HTTPTrouble` if no answer comes, or its body is too large or ends early.
    func ask(_ request: Request) async throws -> Answer {
        do {
            let response = try await client.execute(try Self.prepared(request), deadline: .now() + .seconds(120))
            let body = try await response.body.collect(upTo: Self.bodyBytesMax)
            return Answer(
                status: Int(response.status.code),
                headers: Headers(response.headers),
                body: Array(body.readableBytesView)
            )
        } catch {
            throw try Self.trouble(error)
        }
    }

    /// Like `ask`, for a request that spends something, such as a token that works once: cancellation stops it only
    /// after 5 s.
    ///
    /// - Throws: as `ask`; `CancellationError` if the answer does not come within 5 s of the cancellation.
    func askOnce(_ request: Request, clock: LiveClock) async throws -> Answer {
        try Task.checkCancellation()
        let exchange = Task { try await ask(request) }
        return try await exchange.value(graceOnceCancelled: Self.cancellationGrace, of: clock)
    }

    /// Sends a request and returns once the answer's head has come.
    ///
    /// - Throws: as `ask`. Errors of iterating the body must be passed through `trouble`.
    func open(_ request: Request) async throws -> Stream {
        do {
            let prepared = try Self.prepared(request)
            let response = try await streamingClient.execute(prepared, deadline: .now() + .seconds(60))
            return Stream(
                status: Int(response.status.code),
                headers: Headers(response.headers),
                body: response.body
            )
        } catch {
            throw try Self.trouble(error)
        }
    }

    /// Sends a request and passes the body of an answer of status 200 on in pieces; returns the status. Gives up after a minute of
    /// silence.
    ///
    /// - Throws: as `ask`; what `take` throws.
    func download(_ request: Request, bytesMax: UInt64, take: ([UInt8]) throws -> Void) async throws -> Int {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(try Self.prepared(request), deadline: .now() + .hours(24))
        } catch {
            throw try Self.trouble(error)
        }
        guard response.status == .ok else { return Int(response.status.code) }
        guard !Headers(response.headers).isCoded else { throw HTTPTrouble.coded }
        var bytes: UInt64 = 0
        var body = response.body.makeAsyncIterator()
        while let piece = try await Self.next(&body) {
            bytes += UInt64(piece.count)
            guard bytes <= bytesMax else { throw HTTPTrouble("the answer is too large") }
            try take(piece)
        }
        return Int(response.status.code)
    }

    private static func next(_ body: inout HTTPClientResponse.Body.AsyncIterator) async throws -> [UInt8]? {
        do {
            return try await body.next().map { Array($0.readableBytesView) }
        } catch {
            throw try trouble(error)
        }
    }

    /// The error as `HTTPTrouble`, in fixed words that quote nothing of the request (I14).
    ///
    /// - Throws: `CancellationError` if the task was cancelled.
    static func trouble(_ error: any Error) throws -> HTTPTrouble {
        try Task.checkCancellation()
        if error is CancellationError { throw error }
        if let known = error as? HTTPTrouble { return known }
        return HTTPTrouble(error)
    }

    private static func prepared(_ request: Request) throws -> HTTPClientRequest {
        var prepared = HTTPClientRequest(url: request.url)
        prepared.method = HTTPMethod(rawValue: request.method)
        // The log holds the remote's own bytes (I2); without this field a server may compress them.
        prepared.headers.add(name: "Accept-Encoding", value: "identity")
        for (name, value) in request.headers { prepared.headers.add(name: name, value: value) }
        if !request.body.isEmpty { prepared.body = .bytes(request.body) }
        return prepared
    }
}

extension HTTPAccess.Answer {
    /// True if the answer has a body that cannot be read, because it is compressed although no coding was accepted.
    var isCoded: Bool { !body.isEmpty && headers.isCoded }
}

/// Why no answer came, or only a part of one; in fixed words.
struct HTTPTrouble: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// The error for a body in another coding than `identity`.
    static let coded = HTTPTrouble("the answer is compressed, though nobody asked for that (Content-Encoding)")

    init(_ error: any Error) {
        switch error {
        case let error as HTTPClientError: description = Self.words(error)
        case is NIOConnectionError, is ChannelError, is IOError: description = "the connection failed"
        case is NIOSSLError, is NIOSSLExtraError: description = "TLS failed: is the certificate trusted (--ca-file)?"
        case is HTTPParserError: description = "the answer is no HTTP"
        case is NIOTooManyBytesError: description = "the answer is too large"
        default: description = "the connection failed"
        }
    }

    private static func words(_ error: HTTPClientError) -> String {
        switch error {
        case .remoteConnectionClosed, .bodyLengthMismatch: "the connection was closed early"
        case .readTimeout, .deadlineExceeded, .writeTimeout: "the answer did not come in time"
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
            "the connection was not made in time"
        case .invalidURL, .emptyHost, .emptyScheme: "the URL cannot be used"
        default:
            if case .unsupportedScheme = Kind(error) { "the scheme is not http or https" } else { "the request failed" }
        }
    }

    private enum Kind {
        case unsupportedScheme, other

        init(_ error: HTTPClientError) {
            self = error.shortDescription == "Unsupported scheme" ? .unsupportedScheme : .other
        }
    }
}
#endif
