import ArgumentParser
import Clients
import EventLog
import Projections
import Reduction

/// Which observation of a client is compared with the state.
struct ObservedDiffOptions: ParsableArguments {
    @Option(
        name: .customLong("observed"),
        help: ArgumentHelp(
            "The event of an observation: compare what a client showed with the state then.",
            valueName: "seq"
        ),
        transform: { text in
            guard let number = UInt64(text), number > 0 else {
                throw ValidationError("\"\(text)\" is no sequence of an event")
            }
            return SequenceNumber(number)
        }
    )
    var event: SequenceNumber?

    @Option(help: LagOption.help, transform: DurationText.parse)
    var lag: Duration?
}

/// How long a client may take to show what it received.
enum LagOption {
    static let help = ArgumentHelp(
        "With --observed: how long a client may take to show what it received; default: 1s.",
        valueName: "duration"
    )
}

extension DiffCommand {
    /// `--observed`: prints how the observation differs from the state at which its client was.
    ///
    /// - Throws: `Outcome.no` if they differ; `EngineError` if the event is no observation.
    func compare(observation event: SequenceNumber) throws {
        guard case .log(let path, nil, let profile) = one else {
            throw Failure("diff --observed: name a log, without a point: the observation says where it was")
        }
        let store = try decoders.used(in: LogOptions.open(path, isQuiet: output.quiet), isQuiet: output.quiet)
        let search = try ObservedSearch(
            of: store,
            lag: observed.lag ?? ObservedSearch.lag,
            options: StateQuery(profile: profile).replayOptions
        )
        let (point, differences) = try search.differences(of: event)
        let output = output.standardOutput
        let printer = ObservedPrinter(output: output, log: path, form: lists.form)
        try printer.print(event, at: point, differences)
        try output.flush()
        if !differences.isEmpty { throw Outcome.no }
    }
}
