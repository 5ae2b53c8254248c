#if Recorders
import NIOHTTP1
import Testing

@testable import Ingest

@Suite struct GitHubRateTests {
    private func rate(_ limit: String, _ remaining: String, _ reset: String) -> GitHubRate? {
        GitHubRate(
            HTTPAccess.Headers(
                HTTPHeaders([
                    ("X-RateLimit-Limit", limit), ("X-RateLimit-Remaining", remaining), ("X-RateLimit-Reset", reset),
                ])
            )
        )
    }

    @Test(arguments: [
        ("5000", 0, GitHubRate.Level.paused), ("5000", 249, .paused), ("5000", 250, .warning),
        ("5000", 1_000, .warning),
        ("5000", 1_001, .normal), ("1099511627776", 0, .paused),
    ])
    func theLevelFollowsFromWhatIsUsed(limit: String, remaining: Int, level: GitHubRate.Level) {
        #expect(rate(limit, "\(remaining)", "1767225600")?.level == level)
    }

    /// Each of these ended the process by an overflow, or could.
    @Test(arguments: [
        ("9223372036854775807", "0", "1767225600"), ("5000", "0", "-9223372036854775808"),
        ("5000", "0", "9223372036854775807"), ("0", "0", "1767225600"), ("-5", "0", "1767225600"),
    ])
    func numbersOutOfAllProportionAreNoRate(limit: String, remaining: String, reset: String) {
        #expect(rate(limit, remaining, reset) == nil)
    }
}
#endif
