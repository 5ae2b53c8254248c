#if NATS
import CNATS
import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A connection to a NATS server, and what `libnats` does over it. Its pointers end with `end`.
final class NATSConnection {
    /// What a stream says of itself.
    struct StreamInformation {
        let subjects: [String]
        let first: UInt64
        let last: UInt64
        let count: UInt64
        let isDirect: Bool
    }

    /// A message, copied.
    struct Message {
        let subject: String
        let reply: String?
        let id: String
        let bytes: [UInt8]
        let isWithoutResponders: Bool
    }

    private let name: String
    private var connection: OpaquePointer?
    private var context: OpaquePointer?
    /// The denial that was told last: the connection goes on saying it.
    private var denial: String?

    /// How long a request may take.
    static let limitMilliseconds: Int64 = 10_000

    init(to address: NATSAddress, _ security: NATSSecurity) throws {
        name = address.text
        if security.token != nil, !address.isSecure, !address.isLoopback {
            throw EventLogError(
                .invalidArgument,
                operation: "connect to",
                object: name,
                reason: "a token would travel as it is, for anyone to read",
                advice: "use tls://"
            )
        }
        var options: OpaquePointer?
        try check(natsOptions_Create(&options), "connect to")
        defer { natsOptions_Destroy(options) }
        let servers = address.servers.map { strdup($0) }
        defer { for server in servers { free(server) } }
        var pointers = servers.map { $0.map { UnsafePointer($0) } }
        try check(natsOptions_SetServers(options, &pointers, Int32(pointers.count)), "connect to")
        try check(natsOptions_SetName(options, "logtool"), "connect to")
        try check(natsOptions_SetTimeout(options, 5000), "connect to")
        // A server that is away for a while is waited for, by what has a deadline of its own.
        try check(natsOptions_SetMaxReconnect(options, -1), "connect to")
        try check(natsOptions_SetReconnectWait(options, 250), "connect to")
        try check(natsOptions_SetReconnectBufSize(options, 64 << 20), "connect to")
        if address.isSecure {
            try check(natsOptions_SetSecure(options, true), "connect to")
            // Without it, any certificate of a trusted authority would do.
            try check(natsOptions_SetExpectedHostname(options, address.host), "connect to")
            if let file = security.trustFile {
                try check(natsOptions_LoadCATrustedCertificates(options, file), "read certificates for")
            }
        }
        if let file = security.credentials {
            try check(natsOptions_SetUserCredentialsFromFiles(options, file, nil), "read credentials for")
        }
        if let token = security.token { try check(natsOptions_SetToken(options, token), "connect to") }
        try check(natsConnection_Connect(&connection, options), "connect to")
        var jetStream = jsOptions()
        try check(jsOptions_Init(&jetStream), "connect to")
        jetStream.Wait = Self.limitMilliseconds
        try check(natsConnection_JetStream(&context, connection, &jetStream), "connect to")
    }

    func end() {
        jsCtx_Destroy(context)
        natsConnection_Destroy(connection)
        (context, connection) = (nil, nil)
    }

    // MARK: - Errors

    func error(_ operation: String, _ reason: String) -> EventLogError {
        EventLogError(.io, operation: operation, object: name, reason: reason)
    }

    private func check(_ status: natsStatus, _ operation: String) throws {
        guard status != NATS_OK else { return }
        try checkDenial(operation)
        throw error(operation, String(cString: natsStatus_GetText(status)))
    }

    /// The server never answers a request that it denies; it reports the denial in a message of its own.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if the server has denied something to this user.
    func checkDenial(_ operation: String) throws {
        var text: UnsafePointer<CChar>?
        guard let connection, natsConnection_GetLastError(connection, &text) == NATS_NOT_PERMITTED, let text else {
            return
        }
        let said = String(cString: text)
        guard denial != said else { return }
        denial = said
        throw EventLogError(
            .invalidArgument,
            operation: operation,
            object: name,
            reason: "the server denies it to this user: \(said)",
            advice: "docs/ship.md lists the rights of senders and receivers"
        )
    }

    // MARK: - Streams

    func information(of stream: String) throws -> StreamInformation? {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(rawValue: 0)
        let status = js_GetStreamInfo(&info, context, stream, nil, &code)
        if status == NATS_NOT_FOUND { return nil }
        try check(status, "look at stream \(stream) of")
        defer { jsStreamInfo_Destroy(info) }
        guard let info = info?.pointee, let config = info.Config?.pointee else { return nil }
        let subjects = (0..<Int(config.SubjectsLen)).compactMap { config.Subjects?[$0].map { String(cString: $0) } }
        let state = info.State
        return StreamInformation(
            subjects: subjects,
            first: state.FirstSeq,
            last: state.LastSeq,
            count: state.Msgs,
            isDirect: config.AllowDirect
        )
    }

    func makeStream(_ stream: String, subject: String, replicas: Int) throws {
        var config = jsStreamConfig()
        try check(jsStreamConfig_Init(&config), "make stream")
        try stream.withCString { stream in
            try subject.withCString { subject in
                var subjects: [UnsafePointer<CChar>?] = [subject]
                try subjects.withUnsafeMutableBufferPointer { subjects in
                    config.Name = stream
                    config.Subjects = subjects.baseAddress
                    config.SubjectsLen = 1
                    config.Replicas = Int64(replicas)
                    config.AllowDirect = true
                    try check(
                        js_AddStream(nil, context, &config, nil, nil),
                        "make stream \(String(cString: stream)) of"
                    )
                }
            }
        }
    }

    /// The only stream of a log that the server has.
    ///
    /// - Throws: `EventLogError`: `notFound` if there is none, `invalidArgument` if there are several.
    func onlyStream() throws -> String {
        var list: UnsafeMutablePointer<jsStreamNamesList>?
        let status = js_StreamNames(&list, context, nil, nil)
        defer { jsStreamNamesList_Destroy(list) }
        if status != NATS_NOT_FOUND { try check(status, "list streams of") }
        let names = (0..<Int(list?.pointee.Count ?? 0)).compactMap {
            list?.pointee.List?[$0].map { String(cString: $0) }
        }
        .filter { $0.hasPrefix("eventlog-") }.sorted()
        guard let only = names.first else {
            throw EventLogError(
                .notFound,
                operation: "find stream of",
                object: name,
                reason: "there is no stream of a log",
                advice: "logtool ship LOG --to nats://HOST makes one"
            )
        }
        guard names.count == 1 else {
            throw EventLogError(
                .invalidArgument,
                operation: "find stream of",
                object: name,
                reason: "there are \(names.count) streams: \(names.prefix(10).joined(separator: ", "))",
                advice: "name one behind the address: nats://HOST/STREAM"
            )
        }
        return only
    }

    // MARK: - Messages of a stream

    func message(of stream: String, at position: UInt64, isDirect: Bool) throws -> Message? {
        var message: OpaquePointer?
        defer { natsMsg_Destroy(message) }
        if isDirect {
            var options = jsDirectGetMsgOptions()
            try check(jsDirectGetMsgOptions_Init(&options), "read")
            options.Sequence = position
            // A replica may lag behind, so what it lacks is asked of the leader.
            if js_DirectGetMsg(&message, context, stream, nil, &options) == NATS_OK { return Self.copy(message) }
        }
        let status = js_GetMsg(&message, context, stream, position, nil, nil)
        if status == NATS_NOT_FOUND { return nil }
        try check(status, "read stream \(stream) of")
        return Self.copy(message)
    }

    func erase(_ position: UInt64, of stream: String) throws {
        let status = js_EraseMsg(context, stream, position, nil, nil)
        // Somebody else may have removed it.
        guard status != NATS_NOT_FOUND else { return }
        if status == NATS_OK { return }
        if try message(of: stream, at: position, isDirect: false) == nil { return }
        try check(status, "remove from stream \(stream) of")
    }

    func forEachID(
        of stream: String,
        subject: String,
        in range: ClosedRange<UInt64>,
        within limit: Duration,
        _ body: (UInt64, String) -> Void
    ) throws {
        var options = jsSubOptions()
        try check(jsSubOptions_Init(&options), "list")
        var subscription: OpaquePointer?
        try stream.withCString { stream in
            options.Stream = stream
            options.Ordered = true
            options.Config.DeliverPolicy = js_DeliverByStartSequence
            options.Config.OptStartSeq = range.lowerBound
            options.Config.HeadersOnly = true
            try check(js_SubscribeSync(&subscription, context, subject, nil, &options, nil), "list stream of")
        }
        defer {
            natsSubscription_Unsubscribe(subscription)
            natsSubscription_Destroy(subscription)
        }
        natsSubscription_SetPendingLimits(subscription, -1, -1)
        var info: UnsafeMutablePointer<jsConsumerInfo>?
        try check(natsSubscription_GetConsumerInfo(&info, subscription, nil, nil), "list stream of")
        let isEmpty = info?.pointee.NumPending == 0 && info?.pointee.Delivered.Consumer == 0
        jsConsumerInfo_Destroy(info)
        if isEmpty { return }
        while true {
            var message: OpaquePointer?
            try check(natsSubscription_NextMsg(&message, subscription, limit.milliseconds), "list stream of")
            defer { natsMsg_Destroy(message) }
            var data: UnsafeMutablePointer<jsMsgMetaData>?
            try check(natsMsg_GetMetaData(&data, message), "list stream of")
            defer { jsMsgMetaData_Destroy(data) }
            guard let data = data?.pointee, data.Sequence.Stream <= range.upperBound else { return }
            body(data.Sequence.Stream, Self.id(message))
            if data.NumPending == 0 || data.Sequence.Stream == range.upperBound { return }
        }
    }

    private static func id(_ message: OpaquePointer?) -> String {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(message, "Nats-Msg-Id", &value) == NATS_OK, let value else { return "" }
        return String(cString: value)
    }

    static func copy(_ message: OpaquePointer?) -> Message {
        let count = Int(natsMsg_GetDataLength(message))
        let bytes = natsMsg_GetData(message).map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
        return Message(
            subject: natsMsg_GetSubject(message).map { String(cString: $0) } ?? "",
            reply: natsMsg_GetReply(message).map { String(cString: $0) },
            id: id(message),
            bytes: bytes,
            isWithoutResponders: natsMsg_IsNoResponders(message)
        )
    }

    // MARK: - Messages without a stream

    func publish(_ bytes: [UInt8], to subject: String, id: String? = nil, reply: String? = nil) throws {
        var message: OpaquePointer?
        let status = bytes.withUnsafeBytes { bytes in
            natsMsg_Create(
                &message,
                subject,
                reply,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(clamping: bytes.count)
            )
        }
        try check(status, "publish to")
        defer { natsMsg_Destroy(message) }
        if let id { try check(natsMsgHeader_Set(message, "Nats-Msg-Id", id), "publish to") }
        try check(natsConnection_PublishMsg(connection, message), "publish to")
    }

    func request(_ bytes: [UInt8], of subject: String, within limit: Duration) throws -> [UInt8]? {
        var reply: OpaquePointer?
        let status = bytes.withUnsafeBytes { bytes in
            natsConnection_Request(
                &reply,
                connection,
                subject,
                bytes.baseAddress,
                Int32(bytes.count),
                limit.milliseconds
            )
        }
        if status == NATS_TIMEOUT { try checkDenial("ask") }
        if status == NATS_NO_RESPONDERS || status == NATS_TIMEOUT { return nil }
        try check(status, "ask")
        defer { natsMsg_Destroy(reply) }
        return Self.copy(reply).bytes
    }

    func subscribe(to subject: String) throws -> NATSSubscription {
        var subscription: OpaquePointer?
        try check(natsConnection_SubscribeSync(&subscription, connection, subject), "subscribe to")
        try check(natsConnection_FlushTimeout(connection, Self.limitMilliseconds), "subscribe to")
        return NATSSubscription(subscription, subject: subject) { [name] in
            EventLogError(.io, operation: "read from", object: name, reason: String(cString: natsStatus_GetText($0)))
        }
    }

    func subscribeToInbox() throws -> NATSSubscription {
        var inbox: UnsafeMutablePointer<CChar>?
        try check(natsInbox_Create(&inbox), "subscribe to")
        defer { natsInbox_Destroy(inbox) }
        return try subscribe(to: inbox.map { String(cString: $0) } ?? "")
    }

    /// Waits where there is nothing to listen to.
    func wait(_ limit: Duration) throws { nats_Sleep(limit.milliseconds) }
}
#endif
