import ArgumentParser

/// Durations as the command line writes them: `500ms`, `90s`, `30m`, `12h`, `7d`.
///
/// A day is 24 hours. There is no larger unit: months have no fixed length.
enum DurationText {
    /// Reads a duration: digits without sign or fraction, and a unit.
    ///
    /// - Throws: `ValidationError`, also for more milliseconds than `Int64` holds.
    static func parse(_ text: String) throws -> Duration {
        let units: [(suffix: String, milliseconds: Int64)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
        ]
        // `ms` comes before `s`, which is the end of both. A unit whose digits do not fit gives way to the next.
        for unit in units where text.hasSuffix(unit.suffix) {
            let digits = text.dropLast(unit.suffix.count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int64(digits)
            else { continue }
            let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
            if !overflow { return .milliseconds(milliseconds) }
        }
        throw ValidationError("\"\(text)\" is no duration: write 500ms, 90s, 30m, 12h or 7d")
    }

    /// Writes whole seconds in the largest unit that has no remainder.
    static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let units: [(suffix: String, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("m", 60)]
        for unit in units where seconds >= unit.seconds && seconds.isMultiple(of: unit.seconds) {
            return "\(seconds / unit.seconds)\(unit.suffix)"
        }
        return "\(seconds)s"
    }
}
