import EventLog
import Foundation
import TestSupport

/// Logs to play, processes that play and record them, and what the logs then hold.
struct PlayBench {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// Makes a log of drafts.
    func makeLog(_ name: String, _ drafts: [DraftEvent]) throws {
        _ = try EventStore.openOrCreate(at: folder.path(name)).append(drafts)
    }

    /// All events of a log; none where there is no log yet.
    func events(_ log: String) throws -> [RecordedEvent] {
        guard let store = try? EventStore.open(at: folder.path(log)) else { return [] }
        return try store.read { session in
            var events: [RecordedEvent] = []
            guard session.head.rawValue > 0 else { return [] }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                events.append(event.copied())
                return true
            }
            return events
        }
    }

    /// The events of a log once they fulfil a condition.
    @discardableResult
    func wait(_ log: String, until condition: ([RecordedEvent]) -> Bool) async throws -> [RecordedEvent] {
        while true {
            let events = try events(log)
            if condition(events) { return events }
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Starts to play a log; `HOST:PORT`.
    func play(_ log: String, _ arguments: [String]) async throws -> (process: ToolProcess, address: String) {
        let process = try ToolProcess(["play", log] + arguments, in: folder)
        while process.isRunning {
            if let place = process.errors.range(of: "playing at http://") {
                let rest = process.errors[place.upperBound...]
                if let end = rest.firstIndex(of: "\n") { return (process, String(rest[..<end])) }
            }
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(10))
        }
        throw CocoaError(.executableLoad, userInfo: ["errors": process.errors])
    }

    /// Starts a recorder whose waiting goes faster than the world's.
    ///
    /// Its patience shrinks as its pauses do. A peer on a busy machine must answer within that, or the recorder rightly
    /// connects or joins once more.
    func record(_ log: String, _ source: String, speed: Int = 2) throws -> ToolProcess {
        try folder.write("logs:\n  - path: \(log)\n    sources:\n      - {\(source)}\n", to: "\(log).yaml")
        return try ToolProcess(
            ["record", "--config", "\(log).yaml", "--speed", "\(speed)"],
            in: folder,
            environment: ["TOKEN": "tok-1"]
        )
    }

    /// Asks a route of a playback; what came in so many seconds, and behind it the status if that is wanted.
    func get(
        _ address: String,
        _ path: String,
        method: String = "GET",
        header: String = "X-Nothing: 1",
        body: String = "",
        seconds: Int = 20,
        showsStatus: Bool = false
    ) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/curl")
        let sent = body.isEmpty ? [] : ["--data-binary", body]
        let written = showsStatus ? ["-w", "%{http_code}"] : []
        process.arguments =
            ["-s", "-N", "--max-time", "\(seconds)", "-X", method, "-H", header] + sent + written
            + ["http://\(address)\(path)"]
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}

extension [RecordedEvent] {
    /// The payloads of frames that came in.
    var framesIn: [String] {
        filter { $0.envelope.kind.rawValue.hasSuffix(".frame/1") && $0.envelope.attributes["dir"] == "in" }.map(\.text)
    }

    /// Path and body of each answer.
    var answers: [String] {
        filter { $0.envelope.kind.rawValue.hasSuffix(".rest/1") }.map {
            "\($0.envelope.attributes["path"] ?? "") \($0.text)"
        }
    }

    /// The codes that connections ended with.
    var closeCodes: [String] {
        filter { $0.envelope.attributes["link"] == "close" }.map { $0.envelope.attributes["code"] ?? "" }
    }

    func payloads(of kind: String) -> [String] {
        filter { $0.envelope.kind.rawValue == kind }.map(\.text)
    }
}

extension RecordedEvent {
    var text: String { String(decoding: payload, as: UTF8.self) }
}
