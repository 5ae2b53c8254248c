import EventLog
import Testing

@Suite struct TimestampTests {
    /// A record may hold any number.
    @Test(arguments: [Int64.min, .min + 1, -1_000_001, -1_000_000, -1, 0, 1, 999_999, 1_000_000, .max - 1, .max])
    func everyNumberOfMicrosecondsIsAnInstant(_ microseconds: Int64) {
        let instant = Timestamp(microseconds: microseconds)
        #expect(instant.nanoseconds < 1_000_000_000)
        if microseconds > .min + 1_000_000 { #expect(instant.microseconds == microseconds) }
        #expect(instant.description.hasSuffix("Z"))
    }
}
