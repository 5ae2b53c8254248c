#if Recorders
import ArgumentParser
import EventLog
import Playback
import Projections
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension PlayCommand {
    /// The reason why the playback ended.
    private enum End: Sendable {
        case played
        case signal(Int32)
    }

    /// Plays until everything was given or a signal comes, then lists the client's departures from the recording.
    ///
    /// - Throws: `ExitCode` 128 + signal after a signal, behind the report. `Failure` with exit code 1 if no source
    ///   fits the form, with 2 if several do.
    func run() async throws {
        let store = try log.open(isQuiet: output.quiet)
        let playback = try makePlayback(store)
        let play = try playback.context()
        // Trapped before the playback starts, so that no signal ends the process without the report.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        if step { readKeys(play) }
        let end = try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask {
                try await self.play(playback, play)
                return .played
            }
            group.addTask {
                for await signal in signals { return .signal(signal == .sigint ? SIGINT : SIGTERM) }
                return nil
            }
            // Whichever ends first ends the other: a signal stops the playback, and its end stops the wait for signals.
            defer { group.cancelAll() }
            while let end = try await group.next() {
                if let end { return end }
            }
            // Not reached: the playback's task ends with `played` or an error.
            return End.played
        }
        try say(play.report)
        if case .signal(let number) = end { throw ExitCode(128 + number) }
    }

    /// The playback that the options describe. Its end is fixed here, so events appended meanwhile are not played.
    ///
    /// - Throws: `Failure` with exit code 2 if `--from` comes after `--until`.
    private func makePlayback(_ store: EventStore) throws -> LogPlayback {
        var playback = try LogPlayback(of: store, as: form, source: source, options: StateQuery().replayOptions)
        if let until { playback.end = try store.read { try until.resolve(in: $0) } }
        (playback.speed, playback.isStepping) = (speed, step)
        playback.start = try store.read { try from?.resolve(in: $0) ?? .zero }
        guard playback.start <= playback.end else {
            throw Failure("play: --from (\(playback.start)) comes after --until (\(playback.end))")
        }
        playback.endsWithClient = once
        playback.origins = Set(origin)
        return playback
    }

    /// Serves a client, or writes files; with `--listen`, files have a server of play's own routes beside them.
    ///
    /// The address goes to standard error, because standard output is for the report.
    private func play(_ playback: LogPlayback, _ play: PlayContext) async throws {
        let tell = { @Sendable (address: String) in StandardError.line("logtool: playing at http://\(address)") }
        guard let to else { return try await playback.serve(play, at: listening.listen ?? .free, listening: tell) }
        try await playback.write(play, to: to, branch: branch, mayOverwrite: yes, at: listening.listen, listening: tell)
    }

    /// Lets each line on a terminal release one event. The thread ends with the process, because nothing interrupts a
    /// read of the terminal. If standard input is no terminal, only `POST /_play/step` releases events.
    private func readKeys(_ play: PlayContext) {
        guard Terminal.isTerminal(0) else { return }
        DetachedThread.start {
            while readLine() != nil { play.release() }
        }
    }

    /// Prints the report, also after a signal. A client's departures quote what it sent, so lines are escaped.
    private func say(_ report: PlayReport) throws {
        let output = output.standardOutput
        if document.json {
            try output.line(report.document.text)
        } else {
            for line in report.lines { try output.line(DisplayText.escaped(line)) }
        }
        try output.flush()
    }
}
#endif
