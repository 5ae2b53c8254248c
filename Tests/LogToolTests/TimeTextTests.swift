import Testing

@testable import logtool

@Suite struct TimeTextTests {
    @Test(arguments: [
        (Duration.zero, "0.0 s"), (.milliseconds(12_599), "12.5 s"), (.milliseconds(-400), "-0.4 s"),
        (.seconds(60), "1 min 0 s"), (.seconds(3599), "59 min 59 s"), (.seconds(7260), "2 h 1 min"),
        (.seconds(86_400 * 4 + 7 * 3600), "4 d 7 h"), (.seconds(Int64.max), "106751991167 d 7 h"),
        (.seconds(Int64.min), "-106751991167 d 7 h"),
    ])
    func aDurationHasItsTwoGreatestUnits(duration: Duration, text: String) {
        #expect(TimeText.duration(duration) == text)
    }
}
