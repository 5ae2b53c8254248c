#if Recorders
import EventLog
import Foundation
import NIOCore

/// WebSocket frames through `logtool proxy`, beside two bare proxies of NIO: one passes bytes as they come, the other decodes and
/// encodes each frame. Each proxy is a process of its own; server and clients are this one.
struct ProxyBenchmark {
    let count: Int
    let scratch: Scratch
    /// The logtool whose proxy records.
    let program: String
    var rounds = 3

    /// The round trips of which times are taken.
    private var pings: Int { min(5_000, count / 20) }
    private var idleCount: Int { min(10_000, count / 20) }

    func run() async throws -> [Figure] {
        let server = try await SocketServer.start()
        let figures = try await speed(server.port) + latency(server.port) + idle(server.port) + stalled(server.port)
        try await server.stop()
        return figures
    }

    private func recorder(_ log: String, _ server: Int) throws -> ProxyProcess {
        try ProxyProcess(program, ["proxy", log, "--to", "http://127.0.0.1:\(server)", "--listen", "127.0.0.1:0"])
    }

    private func bare(_ way: BareProxy.Way, _ server: Int) throws -> ProxyProcess {
        let own = CommandLine.arguments[0]
        return try ProxyProcess(own, ["--answer", "bare-proxy", "--answer", way.rawValue, "--answer", String(server)])
    }

    // MARK: - Frames a second

    private struct Speed {
        var rates: [Double] = []
        /// Frames for a second of the proxy's processor time.
        var processorRates: [Double] = []

        mutating func add(_ frames: Int, seconds: Double, of process: ProxyProcess) {
            rates.append(Double(frames) / seconds)
            processorRates.append(Double(frames) / max(process.processorSeconds, 0.01))
        }
    }

    private func speed(_ server: Int) async throws -> [Figure] {
        var (recorded, bytes, frames) = (Speed(), Speed(), Speed())
        for _ in 0..<rounds {
            try await pass(&bytes, try bare(.bytes, server))
            try await pass(&frames, try bare(.frames, server))
            let path = scratch.fresh("proxy.eventlog")
            let proxy = try recorder(path, server)
            let start = ContinuousClock.now
            try await SocketClient.count(count, port: proxy.port)
            try waitForEvents(count, in: path)
            recorded.add(count, seconds: (ContinuousClock.now - start) / .seconds(1), of: proxy)
            proxy.end()
            try FileManager.default.removeItem(atPath: path)
        }
        return [
            ("frames through proxy, recorded", recorded.rates, bytes.rates, frames.rates),
            (
                "the same, a second of its processor time", recorded.processorRates, bytes.processorRates,
                frames.processorRates
            ),
        ].flatMap { name, rates, bytes, frames in
            [
                Figure(name, events: count, rates: rates, beside: "bare, frames decoded", frames, goal: 0.4),
                Figure(name, events: count, rates: rates, beside: "bare, bytes as they come", bytes, goal: nil),
            ]
        }
    }

    private func pass(_ speed: inout Speed, _ proxy: ProxyProcess) async throws {
        let start = ContinuousClock.now
        try await SocketClient.count(count, port: proxy.port)
        speed.add(count, seconds: (ContinuousClock.now - start) / .seconds(1), of: proxy)
        proxy.end()
    }

    /// Returns once a log that another process writes has so many events.
    private func waitForEvents(_ count: Int, in path: String) throws {
        let store = try EventStore.open(at: path)
        while try store.read({ $0.head.rawValue }) < UInt64(count) { usleep(2_000) }
    }

    // MARK: - Latency

    /// What a round trip of 1,000 frames a second takes longer than without a proxy.
    private func latency(_ server: Int) async throws -> [Figure] {
        var (halves, most): ([Double], [Double]) = ([], [])
        let path = scratch.fresh("latency.eventlog")
        let proxy = try recorder(path, server)
        for _ in 0..<rounds {
            let plain = try await SocketClient.roundTrips(pings * 5 / 4, port: server).sorted()
            let passed = try await SocketClient.roundTrips(pings * 5 / 4, port: proxy.port).sorted()
            guard plain.count == pings, passed.count == pings else { throw ProxyProcess.Failure() }
            halves.append((passed[pings / 2] - plain[pings / 2]) * 1000)
            most.append((passed[pings * 99 / 100] - plain[pings * 99 / 100]) * 1000)
        }
        proxy.end()
        let name = "a round trip longer with proxy, ms,"
        return [
            Figure("\(name) median", events: pings, found: Figure.median(halves), allowed: 0.2),
            Figure("\(name) 99 of 100", events: pings, found: Figure.median(most), allowed: 1),
        ]
    }

    // MARK: - Memory

    private func idle(_ server: Int) async throws -> [Figure] {
        let room = ProxyProcess.raiseFileLimit(to: 2 * idleCount + 256)
        let count = min(idleCount, (room - 256) / 2)
        let proxy = try recorder(scratch.fresh("idle.eventlog"), server)
        let port = proxy.port
        var channels: [any Channel] = []
        for start in stride(from: 0, to: count, by: 100) {
            channels += try await withThrowingTaskGroup { group in
                for _ in start..<min(start + 100, count) {
                    group.addTask { try await SocketClient.open("/idle", port: port) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        // What opening them took is given back meanwhile.
        try await Task.sleep(for: .seconds(1))
        let (megabytes, own) = (proxy.megabytes, proxy.anonymousMegabytes)
        proxy.end()
        guard channels.count == count else { throw ProxyProcess.Failure() }
        return [
            Figure("memory of proxy with \(count) idle connections, MB", events: count, found: megabytes, allowed: 150),
            Figure("the same without mapped files, MB", events: count, found: own, allowed: 150),
        ]
    }

    /// A client that reads nothing, and a server that sends until it cannot.
    private func stalled(_ server: Int) async throws -> [Figure] {
        let path = scratch.fresh("stalled.eventlog")
        let proxy = try recorder(path, server)
        let channel = try await SocketClient.openWithoutReading("/flood/10000000", port: proxy.port)
        let store = try EventStore.open(at: path)
        var (events, before): (UInt64, UInt64?) = (0, nil)
        while events != before || events == 0 {
            try await Task.sleep(for: .seconds(1))
            (before, events) = (events, try store.read { $0.head.rawValue })
        }
        let megabytes = proxy.megabytes
        proxy.end()
        try? await channel.close()
        let sent = Double(events) * Double(SocketServer.textBytes) / 1e6
        return [
            Figure(
                "memory of proxy with a client that reads nothing, MB",
                events: Int(events),
                found: megabytes,
                allowed: 64
            ),
            Figure("MB of frames until the server had to wait", events: Int(events), found: sent, allowed: 64),
        ]
    }
}
#endif
