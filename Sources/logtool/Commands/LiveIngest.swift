#if Recorders
import EventLog
import Ingest
import Projections
import Logging
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Records one live source into a log until it has ended or a signal comes. `record --config` runs many of them instead
/// (`Supervisor`).
///
/// SIGINT and SIGTERM end it in order: the recorder stops, everything that it took is appended, and only then does the
/// process end. Without this, `Interrupts` ends a process at once.
struct LiveIngest {
    let log: String
    /// Under `fast`, too, `LiveRecorder` returns only once everything is durable.
    let options: EventStore.Options
    /// Certificates to check servers against, in place of the system's.
    let trustFile: String?
    let isQuiet: Bool
    /// What the user declared secret.
    let rules: RedactionRules
    /// What is to read the source from now on; `nil` for what reads it now. In force before the first event comes.
    let decoder: DecoderFile?

    private enum Outcome: Sendable {
        case ended(IngestSummary)
        case signal(Int32)
    }

    /// Records the source. What was taken is durable on return.
    ///
    /// - Returns: What was done, and the signal that ended it, if one did.
    ///
    /// - Throws: `IngestError` from the check or the source; `EventLogError` if the log cannot be opened, made or
    ///   appended to.
    func record(_ source: any LiveSource) async throws -> (IngestSummary, signal: Int32?) {
        let tools = try LiveTools.machine(trustFile: trustFile, level: isQuiet ? .critical : .notice)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let result: Result<(IngestSummary, Int32?), any Error>
        do {
            // Checked first, so that an unusable source leaves no empty log behind.
            try await source.check()
            let store = try EventStore.openOrCreate(at: log, options: options)
            if let decoder { _ = try DecoderArgument.put(decoder, source.name, in: store) }
            result = .success(try await record(source, store, tools, signals))
        } catch {
            result = .failure(error)
        }
        // In both cases; `defer` cannot wait.
        try await tools.http.shutdown()
        return try result.get()
    }

    /// Runs the recorder and the wait for signals side by side, until the recorder has ended.
    private func record(
        _ source: any LiveSource,
        _ store: EventStore,
        _ tools: LiveTools,
        _ signals: UnixSignalsSequence
    ) async throws -> (IngestSummary, Int32?) {
        try await withThrowingTaskGroup(of: Outcome?.self) { group in
            group.addTask { [rules] in
                .ended(try await LiveRecorder.record(source, into: store, with: tools, redacting: rules))
            }
            group.addTask {
                for await signal in signals { return .signal(signal == .sigint ? SIGINT : SIGTERM) }
                // The sequence ends when its task is cancelled.
                return nil
            }
            var signal: Int32?
            while let outcome = try await group.next() {
                switch outcome {
                case .ended(let summary):
                    group.cancelAll()
                    return (summary, signal)
                // The recorder then stops by cancellation. Its summary comes as the next outcome, once everything is
                // durable.
                case .signal(let number):
                    signal = number
                    group.cancelAll()
                case nil: continue
                }
            }
            // Not reached: the recorder's task ends with a summary or an error.
            return (IngestSummary(), signal)
        }
    }
}
#endif
