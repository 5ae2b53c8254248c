#if Recorders
import EventLog
import Ingest
import Projections
import Logging
import Metrics
import Shipping

/// Keeps the recorders of a configuration running: one that fails is started again without disturbing the others. It
/// reads no file; configurations come to it.
///
/// One task reads configurations, and each recorder has a task of its own; they share no state but the tools.
final class Supervisor: Sendable {
    private let options: EventStore.Options
    private let tools: LiveTools
    private let configurations: AsyncStream<RecordConfiguration>

    /// The longest wait before a failed recorder is started again.
    private static let waitMax: Duration = .seconds(60)
    /// A recorder that has run this long has recovered: its next failure starts again with the shortest wait.
    private static let settled: Duration = .seconds(120)

    /// - Parameter configurations: Each replaces the one before. Recorders that both name go on running. The stream's
    ///   end stops everything.
    init(options: EventStore.Options, tools: LiveTools, configurations: AsyncStream<RecordConfiguration>) {
        self.options = options
        self.tools = tools
        self.configurations = configurations
    }

    /// Runs until there are no more configurations, or the task is cancelled. On return every recorder has ended, and
    /// what it took is durable.
    ///
    /// A configuration is applied before the next is taken, so two that come quickly do not overlap.
    func run() async {
        var running: [RecordConfiguration.Entry: Task<Void, Never>] = [:]
        var upkeeps: [RecordConfiguration.Upkeep: Task<Void, Never>] = [:]
        for await configuration in configurations {
            let wanted = Set(configuration.entries)
            for (entry, task) in running where !wanted.contains(entry) {
                // The old recorder must have ended before a new one of the same source starts: the source's lock admits
                // one (I6).
                task.cancel()
                await task.value
                running[entry] = nil
            }
            for entry in configuration.entries where running[entry] == nil {
                running[entry] = Task { await self.keep(entry) }
            }
            for (upkeep, task) in upkeeps where !configuration.upkeeps.contains(upkeep) {
                // A compaction that has begun is finished: the log is never between two generations.
                task.cancel()
                upkeeps[upkeep] = nil
            }
            for upkeep in configuration.upkeeps where upkeeps[upkeep] == nil {
                upkeeps[upkeep] = Task { await self.keep(upkeep) }
            }
            assert(running.count == wanted.count, "the wanted recorders run, and no others")
            tools.log.notice("recording", metadata: ["sources": "\(running.count)"])
        }
        // All are cancelled before one is waited for, so that they end side by side.
        let all = Array(running.values) + upkeeps.values
        for task in all { task.cancel() }
        for task in all { await task.value }
        tools.log.notice("stopped")
    }

    /// Runs one recorder until its task is cancelled. The waits after failures double from 1 s to `waitMax`; up to a
    /// tenth more by chance keeps recorders that failed together from returning together.
    ///
    /// A remote that ends its stream for good is asked again like one that failed: it may have been restarted.
    private func keep(_ entry: RecordConfiguration.Entry) async {
        var log = tools.log
        log[metadataKey: "source"] = "\(entry.name)"
        let restarts = Counter(label: "eventlog_restarts_total", dimensions: [("source", entry.name)])
        var wait = Duration.seconds(1)
        while !Task.isCancelled {
            let start = tools.clock.elapsed()
            do {
                let source = try entry.settings.makeSource(follows: true)
                try await source.check()
                let store = try EventStore.openOrCreate(at: entry.log, options: options)
                if let app = entry.settings.app {
                    _ = try DecoderArgument.put(DecoderFile(declaring: app), source.name, in: store)
                }
                if let decoder = entry.settings.decoder {
                    _ = try DecoderArgument.put(try DecoderArgument.file(decoder), source.name, in: store)
                }
                _ = try await LiveRecorder.record(source, into: store, with: tools, redacting: entry.settings.redaction)
                if Task.isCancelled { return }
                log.notice("the remote has ended")
            } catch {
                log.error("failed", metadata: ["error": "\(error)"])
            }
            // By the monotonic clock: a change of the machine's time is no recovery.
            if tools.clock.elapsed() - start >= Self.settled { wait = .seconds(1) }
            restarts.increment()
            try? await tools.clock.sleep(wait + wait * (tools.random() * 0.1))
            wait = min(wait * 2, Self.waitMax)
        }
    }

    /// Does a work to a log again and again, until the task is cancelled.
    private func keep(_ upkeep: RecordConfiguration.Upkeep) async {
        var log = tools.log
        log[metadataKey: "log"] = "\(upkeep.log)"
        switch upkeep.work {
        case .compact(let age): await keepCompact(upkeep, sealing: age, log)
        case .ship(let shipping):
            switch shipping.target {
            case .tree(let folder): await keepShipped(upkeep, shipping, to: folder, log)
            case .stream(let access, let replicas):
                let stream = StreamUpkeep(
                    log: upkeep.log,
                    lookEach: upkeep.interval,
                    shipping: shipping,
                    access: access,
                    replicas: replicas,
                    options: options,
                    notes: log
                )
                await stream.run(tools.clock)
            }
        }
    }

    /// Ships a log again and again. A round that fails leaves the tree as it is, and the next one makes up for it.
    private func keepShipped(
        _ upkeep: RecordConfiguration.Upkeep,
        _ shipping: RecordConfiguration.Shipping,
        to folder: String,
        _ log: Logger
    ) async {
        while !Task.isCancelled {
            do {
                let result = try await ship(upkeep.log, shipping, to: folder)
                if result.bundles > 0 {
                    let size = result.checkpoint.checkpoint.size
                    log.notice(
                        "shipped",
                        metadata: ["events": "\(result.before) to \(size)", "to": "\(folder)"]
                    )
                }
            } catch let error as EventLogError where error.code == .noLog {
                log.notice("nothing to ship yet")
            } catch {
                log.error("not shipped; the tree is as it was", metadata: ["error": "\(error)"])
            }
            do { try await tools.clock.sleep(upkeep.interval) } catch { return }
        }
    }

    private func ship(
        _ path: String,
        _ shipping: RecordConfiguration.Shipping,
        to folder: String
    ) async throws -> LogShipment.Result {
        let options = options
        return try await DetachedThread.result(stackBytes: 8 << 20) {
            let store = try EventStore.open(at: path, options: options)
            return try LogShipment(of: store, to: folder).run(shipping.request())
        }
    }

    /// Compacts a log again and again, by its own policy. The first time is an interval after the last compaction that the log
    /// tells of, so that a recorder which is often started anew compacts no more often.
    private func keepCompact(_ upkeep: RecordConfiguration.Upkeep, sealing age: Duration?, _ log: Logger) async {
        let last = try? EventStore.open(at: upkeep.log, options: options).read { try Compaction.newest(in: $0) }
        var wait = Duration.zero
        if let last {
            let past = tools.clock.now().seconds.subtractingReportingOverflow(last.seconds).partialValue
            wait = max(.zero, min(upkeep.interval, upkeep.interval - .seconds(past)))
        }
        while true {
            do { try await tools.clock.sleep(wait) } catch { return }
            wait = upkeep.interval
            do {
                let summary = try await compact(upkeep.log, sealing: age)
                log.notice(
                    "compacted",
                    metadata: [
                        "events": "\(summary.events.before) to \(summary.events.after)",
                        "bytes": "\(summary.bytes.before) to \(summary.bytes.after)",
                        "archive": "\(summary.archive?.path ?? "none")",
                        "sealed": "\(summary.sealed ?? 0)",
                    ]
                )
            } catch let error as EventLogError where error.code == .noLog {
                log.notice("nothing to compact yet")
            } catch {
                log.error("not compacted; nothing has changed", metadata: ["error": "\(error)"])
            }
        }
    }

    private func compact(_ path: String, sealing age: Duration?) async throws -> CompactionSummary {
        let (options, now) = (options, tools.clock.now())
        return try await DetachedThread.result(stackBytes: 8 << 20) {
            let store = try EventStore.open(at: path, options: options)
            return try Compaction.run(
                store,
                policy: try store.read { try RetentionPolicy(inForce: $0) },
                now: now,
                leavesSmall: true,
                sealing: try age.map { try .olderThan($0, now: now) },
                keeping: KeptStateOptions(build: ProgramIdentity.build)
            )
        }
    }
}
#endif
