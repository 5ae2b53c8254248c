import Testing

@testable import logtool

@Suite struct TimeTextTests {
    @Test(arguments: [
        (Duration.zero, "0s"), (.milliseconds(12_599), "12s"), (.milliseconds(-400), "0s"), (.seconds(60), "1m"),
        (.seconds(-75), "-1m 15s"),
        (.seconds(3599), "59m 59s"), (.seconds(7265), "2h 1m"), (.seconds(86_400 * 4 + 7 * 3600), "4d 7h"),
        (.seconds(Int64.max), "106751991167d 7h"), (.seconds(Int64.min), "-106751991167d 7h"),
        (.seconds(Int64.min) - .seconds(Int64.max), "-106751991167d 7h"),
    ])
    func aDurationHasAtMostTwoUnits(duration: Duration, text: String) {
        #expect(TimeText.duration(duration) == text)
    }

    @Test(arguments: [
        (0, "0 seconds ago"), (1, "1 second ago"), (89, "89 seconds ago"), (90, "2 minutes ago"),
        (3600, "60 minutes ago"),
        (5400, "2 hours ago"), (86_400, "24 hours ago"), (129_600, "2 days ago"), (1_209_600, "2 weeks ago"),
        (26_300_000, "10 months ago"), (63_200_000, "2 years ago"),
    ])
    func aTimeAgoHasOneUnit(seconds: Int, text: String) {
        #expect(TimeText.ago(seconds: seconds) == text)
    }
}
