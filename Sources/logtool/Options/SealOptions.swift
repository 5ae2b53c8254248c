import ArgumentParser
import EventLog

/// How old an event must be to be sealed.
struct SealAgeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Seal only what is older than this, by the clock of this machine; else all.",
            valueName: "duration"
        ),
        transform: DurationText.parse
    )
    var olderThan: Duration?

    /// Which events the options name.
    func limit(now: Timestamp) throws -> SealLimit {
        guard let olderThan else { return .all }
        let parts = olderThan.components
        let (seconds, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000)
        let age = seconds &+ parts.attoseconds / 1_000_000_000_000
        let (time, isBefore) = now.microseconds.subtractingReportingOverflow(age)
        guard !overflow, !isBefore else { throw ValidationError("--older-than reaches back before any time") }
        return .before(Timestamp(microseconds: time))
    }
}
