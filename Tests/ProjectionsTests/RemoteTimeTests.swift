import EventLog
import Testing

@testable import Projections

@Suite struct RemoteTimeTests {
    @Test(arguments: [
        ("2025-03-04T05:06:07Z", "2025-03-04T05:06:07.000000Z"),
        ("2025-03-04T05:06:07.123Z", "2025-03-04T05:06:07.123000Z"),
        ("2025-03-04T05:06:07+02:00", "2025-03-04T03:06:07.000000Z"),
        ("2025-03-04t05:06:07z", "2025-03-04T05:06:07.000000Z"),
        ("2025-03-04T05:06:60Z", "2025-03-04T05:07:00.000000Z"),
        ("2025-03-04", "2025-03-04T00:00:00.000000Z"),
        ("2025-03-04 05:06:07", "2025-03-04T05:06:07.000000Z"),
        ("2025-03-04T05:06:07", "2025-03-04T05:06:07.000000Z"),
        ("2025-03-04 05:06:07 +0200", "2025-03-04T03:06:07.000000Z"),
        ("2025-03-04 05:06:07.5 -5", "2025-03-04T10:06:07.500000Z"),
        ("2025-3-4 5:06:07", "2025-03-04T05:06:07.000000Z"),
        ("Tue, 04 Mar 2025 05:06:07 GMT", "2025-03-04T05:06:07.000000Z"),
        ("4 Mar 2025 05:06 EST", "2025-03-04T10:06:00.000000Z"),
        ("Tue, 04 Mar 2025 05:06:07 +0130 (somewhere)", "2025-03-04T03:36:07.000000Z"),
        ("Sat Nov 29 2025 12:35:33 GMT-0500 (Eastern Standard Time)", "2025-11-29T17:35:33.000000Z"),
        ("Sat Nov 29 2025 12:35:33 GMT+0530", "2025-11-29T07:05:33.000000Z"),
    ])
    func frontMatterDatesAreInstants(text: String, instant: String) {
        #expect(RemoteTime.vibeChannelDate(text)?.description == instant)
    }

    @Test(arguments: [
        "", "1741064767", "20250304T050607Z", "2025-02-30", "2025-02-30T00:00:00Z", "March 4, 2025", "2025-3-4",
        "Tue, 04 Mar 2025 05:06:07", "2025-03-04T05:06Z", "2025-03-04T05:06:07Z # sent", "true", "2025-03-04 25:00:00",
        "Sat Nov 29 2025 12:35:33", "2025-03-04T05:06:07 CET", "now", "0000-00-00", "٢٠٢٥-٠٣-٠٤",
    ])
    func whatIsNoDateIsRefused(text: String) {
        #expect(RemoteTime.vibeChannelDate(text) == nil)
    }

    @Test(arguments: [
        ("2026-02-01T10:00:00.12+00:00", "2026-02-01T10:00:00.120000Z"),
        ("2026-02-01 10:00:00+00", "2026-02-01T10:00:00.000000Z"),
        ("2026-02-01T10:00:00.123Z", "2026-02-01T10:00:00.123000Z"),
        ("2026-02-01T10:00:00", nil), ("infinity", nil),
    ])
    func rowTimesAreInstants(text: String, instant: String?) {
        #expect(RemoteTime.postgres(text)?.description == instant)
    }

    @Test(arguments: [
        ("2026-01-19T08:30:00Z", true), ("2026-01-19T08:30:00+02:00", true), ("2026-01-19T08:30:00.5Z", false),
        ("2026-01-19T08:30:60Z", false), ("2026-01-19 08:30:00Z", false), ("2026-01-19T24:00:00Z", false),
        ("2026-02-29T08:30:00Z", false), ("2026-01-19T08:30:00z", false), ("2026-01-19T08:30:00+0200", false),
        ("2026-01-19T08:30:00", false), ("2026-01-19t08:30:00Z", false),
    ])
    func statusTimesHaveOneForm(text: String, isAccepted: Bool) {
        #expect((RemoteTime.statusFile(text) != nil) == isAccepted)
    }

    @Test func everyDayOfFourCenturiesComesBack() {
        for day in stride(from: Int64(-800_000), through: 800_000, by: 37) {
            #expect(CivilDate(daysSince1970: day).daysSince1970 == day)
        }
    }

    @Test(arguments: [
        (-1, "1969-12-31T23:59:59.999999Z"), (0, "1970-01-01T00:00:00.000000Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
    ])
    func microsecondsAreWrittenInFull(microseconds: Int64, text: String) {
        #expect(Timestamp(microseconds: microseconds).description == text)
        #expect(Timestamp(rfc3339: text)?.microseconds == microseconds)
    }
}
