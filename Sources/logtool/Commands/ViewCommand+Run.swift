#if Recorders
import ArgumentParser
import Clients
import EventLog
import JSON
import Playback
import Projections
import Synchronization
import UnixSignals
import Viewer

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension ViewCommand {
    /// Makes the page, prints its address and serves it until a signal comes.
    ///
    /// - Throws: `ExitCode` 128 + signal; `Failure` with exit code 1 if nothing fits the selectors.
    func run() async throws {
        let store = try decoders.used(
            in: archives.reading(log.open(isQuiet: output.quiet)),
            isQuiet: output.quiet
        )
        let progress = output.progress("making the page")
        let view = LogView(try contents(of: store, progress))
        progress.end()
        let address = listening.listen ?? .free
        let service = HTTPService(host: address.host, port: address.port) { await view.answer($0) }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let signal = try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await service.run { listening.yield($0) }
                return nil
            }
            group.addTask {
                for await signal in signals { return signal == .sigint ? SIGINT : SIGTERM }
                return nil
            }
            let preparing = Task { await view.prepare() }
            defer {
                preparing.cancel()
                group.cancelAll()
            }
            var open = ports.makeAsyncIterator()
            if let port = await open.next() { try say(address.host, port, view.token) }
            return try await group.next() ?? nil
        }
        if let signal { throw ExitCode(128 + signal) }
    }
}

extension ViewCommand {
    /// What the page shows: all events of a range in chunks, or some events as a whole.
    private func contents(of store: EventStore, _ progress: Progress) throws -> LogView.Contents {
        let title = Directory.split(log.path).name
        // The steps of a range follow each other, so their places are known. Two readings are compared from the beginning.
        guard Set(selectors.given).isSubset(of: ["--from", "--to"]), other.isNone,
            let range = try store.read({ try served($0) })
        else {
            let beside = try other.other(
                beside: reading.profile,
                without: other.without,
                of: store,
                isQuiet: output.quiet
            )
            var page: [UInt8] = []
            try store.read { session in
                let choice = try ReportChoice(selectors, in: session, progress)
                try choice.write(
                    session,
                    title: title,
                    reading: reading.profile,
                    against: beside,
                    isServed: true
                ) {
                    page += $0
                }
            }
            return .whole(page)
        }
        // A log read with archives is a copy, which does not grow.
        let last = selectors.to == nil && archives.withArchive.isEmpty ? nil : range.upperBound
        let log = ViewedLog(store, title: title, from: range.lowerBound, to: last, reading: reading.profile)
        return .chunks(
            log,
            ViewedAxis(store, StateQuery(profile: reading.profile).replayOptions),
            ViewedWork(store, reading: reading.profile, fixtures: freeze)
        )
    }

    /// The events that are served in chunks. Of a log that was compacted they begin behind the decision, as in a report.
    ///
    /// - Throws: `Failure` with exit code 1 if there are none.
    private func served(_ session: borrowing ReadSession) throws -> ClosedRange<SequenceNumber>? {
        // Of a part of a log only some events are there, which a whole page tells of.
        if try session.isPart() { return nil }
        guard let range = try selectors.range.range(in: session) else {
            throw Failure("view: the log has no events there", exitCode: Outcome.no)
        }
        let first = selectors.from == nil ? session.decidedAt.next : range.lowerBound
        guard first <= range.upperBound, first > session.decidedAt || session.decidedAt == .zero else {
            throw Failure(
                "view: the log was compacted at sequence \(session.decidedAt), and earlier states are not known any more; give "
                    + "--from \(session.decidedAt.next)",
                exitCode: Outcome.no
            )
        }
        return first...range.upperBound
    }

    /// Prints the address that the browser opens.
    private func say(_ host: String, _ port: Int, _ token: String) throws {
        let output = output.standardOutput
        try output.line("http://\(host.contains(":") ? "[\(host)]" : host):\(port)/?token=\(token)")
        try output.flush()
    }
}
#endif
