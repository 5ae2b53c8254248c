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
        try olderThan.map { try .olderThan($0, now: now) } ?? .all
    }
}

extension SealLimit {
    /// The events that are older than an age.
    static func olderThan(_ age: Duration, now: Timestamp) throws -> SealLimit {
        let parts = age.components
        let (seconds, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000)
        let (time, isBefore) = now.microseconds.subtractingReportingOverflow(
            seconds &+ parts.attoseconds / 1_000_000_000_000
        )
        guard !overflow, !isBefore else { throw ValidationError("an age of \(age) reaches back before any time") }
        return .before(Timestamp(microseconds: time))
    }
}
