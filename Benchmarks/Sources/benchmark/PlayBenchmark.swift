#if Recorders
import EventLog
import Foundation

/// A recording played at full speed to a NIO client that drops what it gets, beside a bare NIO server that sends the same
/// frames out of memory in one write.
struct PlayBenchmark {
    let count: Int
    let scratch: Scratch
    /// The logtool that plays.
    let program: String
    var rounds = 3

    /// IDENTIFY, masked by zeros, which a client sends whatever comes.
    private static let identify: [UInt8] = {
        let text = Array(#"{"op":2,"d":{"token":"t"}}"#.utf8)
        return [0x81, 0x80 | UInt8(text.count), 0, 0, 0, 0] + text
    }()

    func run() async throws -> [Figure] {
        let frames = Self.frames(count)
        let path = scratch.fresh("play.eventlog")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try record(frames, at: path)
        let server = try await FrameServer.start(frames)
        var (played, plain, memory): ([Double], [Double], Double) = ([], [], 0)
        for _ in 0..<rounds {
            plain.append(try await rate { try await FrameReader.discard(frames.count, port: server.port) })
            let player = try Player(program, path)
            played.append(
                try await rate {
                    try await FrameReader.discard(frames.count, port: player.port, saying: Self.identify)
                }
            )
            memory = max(memory, await player.end())
        }
        try await server.stop()
        return [
            Figure(
                "play gateway frames",
                events: frames.count,
                rates: played,
                beside: "bare NIO server",
                plain,
                goal: 0.3
            ),
            Figure("memory of play, MB", events: frames.count, found: memory, allowed: 64),
        ]
    }

    private static func frames(_ count: Int) -> [String] {
        var frames = [#"{"op":10,"d":{"heartbeat_interval":41250}}"#]
        frames.append(
            #"{"op":0,"d":{"session_id":"s","user_id":"7","guilds":[100],"read_states":null},"s":1,"t":"READY"}"#
        )
        for number in 0..<count {
            frames.append(
                #"{"op":0,"d":{"id":"\#(153_833_649_995_911_168 + number)","channel_id":"135653857706512384","author_id":"7","#
                    + #""content":"message \#(number)","created_at":"2026-03-01T12:00:00.25Z","author_username":"nell","#
                    + #""author_display_name":"Nell","attachments":null\#(UnknownMembers.text(number))},"#
                    + #""s":\#(number + 2),"t":"MESSAGE_CREATE"}"#
            )
        }
        return frames
    }

    private func record(_ frames: [String], at path: String) throws {
        let store = try EventStore.openOrCreate(at: path)
        let source = try SourceName("chat")
        let drafts = try frames.enumerated().map { number, frame in
            DraftEvent(
                recordedAt: Timestamp(microseconds: 1_767_225_600_000_000 + Int64(number)),
                source: source,
                kind: EventKind("gateway.frame/1" as StaticString),
                key: try EventKey("c1/\(number + 1)"),
                attributes: ["connection": "c1", "dir": "in"],
                payload: Array(frame.utf8)
            )
        }
        for start in stride(from: 0, to: drafts.count, by: 32_768) {
            _ = try store.append(Array(drafts[start..<min(start + 32_768, drafts.count)]))
        }
    }

    private func rate(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        let parts = (ContinuousClock.now - start).components
        return Double(count) / (Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
    }
}

/// A `logtool play` at work.
private final class Player {
    private let process = Process()
    let port: Int
    private let sampler: Task<Double, Never>

    init(_ program: String, _ log: String) throws {
        let errors = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = ["play", log, "--as", "gateway", "--speed", "max"]
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        var said = ""
        while !said.contains("\n") {
            let data = errors.fileHandleForReading.availableData
            if data.isEmpty { break }
            said += String(decoding: data, as: UTF8.self)
        }
        port = said.split(separator: ":").last.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0
        sampler = Self.sample(process.processIdentifier)
    }

    private static func sample(_ process: Int32) -> Task<Double, Never> {
        Task.detached {
            var most = 0.0
            while !Task.isCancelled {
                most = max(most, Double(Memory.anonymousBytes(of: String(process)) ?? 0) / 1_048_576)
                try? await Task.sleep(for: .milliseconds(50))
            }
            return most
        }
    }

    /// Ends it; the most anonymous memory that it had, in MB.
    func end() async -> Double {
        sampler.cancel()
        let most = await sampler.value
        process.interrupt()
        process.waitUntilExit()
        return most
    }
}
#endif
