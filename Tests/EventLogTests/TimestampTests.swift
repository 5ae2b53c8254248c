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

    /// An attribute of a log may name any second.
    @Test(arguments: [Int64.min, .min + 86_399, .min + 86_400, -86_401, -86_400, -1, .max])
    func everyNumberOfSecondsHasAText(_ seconds: Int64) {
        #expect(Timestamp(seconds: seconds).description.hasSuffix("Z"))
    }

    @Test func theLastSecondBeforeADayBelongsToTheDayBefore() {
        #expect(Timestamp(seconds: -1).description == "1969-12-31T23:59:59.000000Z")
        #expect(Timestamp(seconds: -86_400).description == "1969-12-31T00:00:00.000000Z")
        #expect(Timestamp(seconds: -86_401).description == "1969-12-30T23:59:59.000000Z")
    }
}
