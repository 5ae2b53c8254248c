#if Recorders
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// HTTP and TLS for all recorders of a process: one pool of connections, no cache, no cookies, no redirects of its own,
/// no proxy, bodies as they were sent: each request asks for `identity`, and an answer in another coding is not used.
public final class HTTPAccess: Sendable {
    /// What WebSockets connect with.
    let group: any EventLoopGroup
    /// What certificates are checked against; `nil` for the system's.
    let trust: NIOSSLContext?
    private let client: HTTPClient
    private let streamingClient: HTTPClient

    /// The most that is read of a body that is not streamed.
    static let bodyBytesMax = 128 << 20
    /// How long a connection may take to be made.
    private static let connectTimeout = TimeAmount.seconds(15)
    /// How long a request that spends something goes on once its caller is cancelled.
    static let cancellationGrace = Duration.seconds(5)
    /// How long an answer may be silent before it is given up.
    private static let readTimeout = TimeAmount.seconds(60)

    /// Makes an access.
    ///
    /// - Parameter trustFile: certificates in PEM to check servers against, in place of the system's.
    /// - Throws: `IngestError` with code `io` where the file holds no certificates.
    public convenience init(trustFile: String? = nil) throws {
        try self.init(trustFile: trustFile, readTimeout: Self.readTimeout)
    }

    /// The same with another patience for an answer that is silent.
    init(trustFile: String? = nil, readTimeout: TimeAmount) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let trustFile { tls.trustRoots = .certificates(try Self.certificates(in: trustFile)) }
        let group = MultiThreadedEventLoopGroup.singleton
        self.group = group
        trust = try trustFile == nil ? nil : NIOSSLContext(configuration: tls)
        client = Self.client(group, tls, read: readTimeout)
        streamingClient = Self.client(group, tls, read: nil)
    }

    /// A client that is not shut down ends the process when it goes: whoever fails on the way there must not.
    deinit {
        for client in [client, streamingClient] { client.shutdown { _ in } }
    }

    /// Closes all connections; to be called before the last reference goes.
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
        configuration.httpVersion = .http1Only
        // Whoever calls decides when to try again, and waits by a clock of its own.
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
        /// Never logged, never in an error.
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
    }

    /// An answer whose body was read.
    struct Answer: Sendable {
        var status: Int
        var headers: Headers
        var body: [UInt8] = []
    }

    /// An answer whose body is still coming.
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

        /// The first field of a name, in any case.
        subscript(name: String) -> String? { fields.first(name: name) }

        /// Whether the body comes in another coding than `identity`, which is all that was asked for.
        var isCoded: Bool {
            fields[canonicalForm: "content-encoding"].contains { !$0.isEmpty && $0.lowercased() != "identity" }
        }

        /// All fields, names in lower case; of several with one name, the first.
        var dictionary: [String: String] {
            Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
        }
    }

    /// Sends a request and reads the whole answer.
    ///
    /// - Throws: `CancellationError`; `HTTPTrouble` where there is no answer or its body ends early.
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

    /// The same for a request that spends something, such as a token that is good for one use: it is not left half way.
    ///
    /// - Throws: as `ask`; `CancellationError` where the answer did not come within 5 s of being cancelled.
    func askOnce(_ request: Request, clock: LiveClock) async throws -> Answer {
        try Task.checkCancellation()
        let exchange = Task { try await ask(request) }
        return try await exchange.value(graceOnceCancelled: Self.cancellationGrace, of: clock)
    }

    /// Sends a request and returns when the answer's head has come.
    ///
    /// - Throws: as `ask`; what iterating the body throws goes through `trouble`.
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

    /// What an error of the client means, in words that hold nothing of the request.
    static func trouble(_ error: any Error) throws -> HTTPTrouble {
        try Task.checkCancellation()
        if error is CancellationError { throw error }
        if let known = error as? HTTPTrouble { return known }
        return HTTPTrouble(error)
    }

    private static func prepared(_ request: Request) throws -> HTTPClientRequest {
        var prepared = HTTPClientRequest(url: request.url)
        prepared.method = HTTPMethod(rawValue: request.method)
        // What is recorded are the remote's own bytes: without this field a server may send them compressed.
        prepared.headers.add(name: "Accept-Encoding", value: "identity")
        for (name, value) in request.headers { prepared.headers.add(name: name, value: value) }
        if !request.body.isEmpty { prepared.body = .bytes(request.body) }
        return prepared
    }
}

extension HTTPAccess.Answer {
    /// Whether there is a body that nobody can read: compressed, though nobody asked for that.
    var isCoded: Bool { !body.isEmpty && headers.isCoded }
}

/// Why there was no answer, or not all of it; in fixed words.
struct HTTPTrouble: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Why a body in another coding than `identity` is not used.
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
