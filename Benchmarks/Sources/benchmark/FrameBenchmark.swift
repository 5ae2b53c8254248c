#if Recorders
import EventLog
import Foundation
import Ingest
import Logging

/// Frames of a gateway and of realtime rows, recorded durably from a loopback socket, beside a NIO client on the same
/// socket that reads frames and drops them.
struct FrameBenchmark {
    let count: Int
    let scratch: Scratch
    var rounds = 3
    private let batch = Recorder.batchEventsMax

    func run() async throws -> [Figure] {
        let gateway = try await measure("gateway", Self.gatewayFrames(count)) { port, name in
            try GatewaySource(
                url: "ws://127.0.0.1:\(port)/",
                restBase: "",
                token: TokenSource { "sk-7f3a9c1e5b2d8046" },
                name: name,
                follows: true
            )
        }
        let realtime = try await measure("realtime", Self.realtimeFrames(count)) { port, name in
            try RealtimeSource(
                url: "ws://127.0.0.1:\(port)/",
                restBase: "",
                tables: ["notes"],
                token: TokenSource { "sk-7f3a9c1e5b2d8046" },
                name: name,
                follows: true
            )
        }
        return gateway + realtime
    }

    private func measure(
        _ name: String,
        _ frames: [String],
        _ source: (Int, SourceName) throws -> any LiveSource
    ) async throws -> [Figure] {
        let server = try await FrameServer.start(frames)
        let batches = try frames.enumerated().map { number, frame in
            try draft(Array(frame.utf8), number, SourceName(name))
        }.chunked(by: batch).map { DraftBatch($0) }
        let bytes = frames.flatMap(\.utf8)
        let offsets = frames.reduce(into: [0 as UInt64]) { $0.append(($0.last ?? 0) + UInt64($1.utf8.count)) }
        var (recorded, plain, appended, bare): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<rounds {
            plain.append(try await rate { try await FrameReader.discard(frames.count, port: server.port) })
            let live = try source(server.port, SourceName(name))
            recorded.append(try await inLog { store in try await rate { try await record(live, store, frames.count) } })
            appended.append(try await inLog { store in try await rate { try append(batches, store) } })
            let folder = try scratch.freshFolder("bare")
            let lmdb = try Bare(at: folder)
            bare.append(try await rate { try lmdb.append(bytes, offsets: offsets, batch: batch) })
            try FileManager.default.removeItem(atPath: folder)
        }
        try await server.stop()
        let count = frames.count
        return [
            Figure("record \(name) frames", events: count, rates: recorded, beside: "reading", plain, goal: 0.5),
            Figure("append them, no socket", events: count, rates: appended, beside: "bare LMDB", bare, goal: nil),
        ]
    }

    /// Lends a new log, whose memory the next one is given again.
    private func inLog(_ body: (EventStore) async throws -> Double) async throws -> Double {
        let path = scratch.fresh("frames.eventlog")
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(try EventStore.openOrCreate(at: path))
    }

    private func draft(_ payload: [UInt8], _ number: Int, _ source: SourceName) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(seconds: Int64(number)),
            source: source,
            kind: EventKind("gateway.frame/1" as StaticString),
            key: try EventKey("c1/\(number + 1)"),
            attributes: ["connection": "c1", "dir": "in"],
            payload: payload
        )
    }

    private func append(_ batches: [DraftBatch], _ store: EventStore) throws {
        let appender = Appender(store)
        for batch in batches { _ = try appender.append(batch) }
        try appender.finish()
    }

    private func rate(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        let parts = (ContinuousClock.now - start).components
        return Double(count) / (Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
    }

    /// Returns when so many events are durable.
    private func record(_ source: any LiveSource, _ store: EventStore, _ count: Int) async throws {
        let http = try HTTPAccess()
        let tools = LiveTools(
            clock: .machine(now: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }),
            random: { 0.5 },
            http: http,
            log: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        )
        let (reached, continuation) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await LiveRecorder.record(source, into: store, with: tools) { summary in
                if summary.appended >= count { continuation.finish() }
            }
        }
        for await _ in reached {}
        task.cancel()
        _ = try? await task.value
        try await http.shutdown()
    }
}

extension FrameBenchmark {
    private static func gatewayFrames(_ count: Int) -> [String] {
        let prologue = [
            #"{"op":10,"d":{"heartbeat_interval":3600000}}"#,
            #"{"op":0,"d":{"session_id":"S","user_id":"7","guilds":[],"read_states":null},"s":1,"t":"READY"}"#,
        ]
        return prologue
            + (0..<count).map { number in
                #"{"op":0,"d":{"id":"\#(153_833_649_995_911_168 + number)","channel_id":"135653857706512384","#
                    + #""author_id":"135283920076935168","content":"\#(String(repeating: "tea at 4 ", count: 15))","#
                    + #""created_at":"2026-03-01T12:00:00.25Z","author_username":"nell","author_display_name":"Nell","#
                    + #""attachments":null\#(UnknownMembers.text(number))},"s":\#(number + 2),"t":"MESSAGE_CREATE"}"#
            }
    }

    private static func realtimeFrames(_ count: Int) -> [String] {
        (0..<count).map { number in
            #"{"topic":"realtime:public:notes","event":"postgres_changes","ref":null,"payload":{"ids":[51220011],"#
                + #""data":{"schema":"public","table":"notes","type":"UPDATE","errors":null,"#
                + #""commit_timestamp":"2026-02-01T10:00:00.131Z","columns":[{"name":"id","type":"uuid"},"#
                + #"{"name":"title","type":"text"}],"record":{"id":"\#(number)","title":"Soup"\#(UnknownMembers.text(number))},"#
                + #""old_record":{"id":"\#(number)"}}}}"#
        }
    }
}
#endif
