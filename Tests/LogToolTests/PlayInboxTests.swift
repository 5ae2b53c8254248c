#if Recorders
import TestSupport
import Testing

@testable import Playback

@Suite(.hangGuard) struct PlayInboxTests {
    /// The limit may pass before the task that waits is suspended. Nothing else ends these waits.
    @Test func aLimitThatPassesAtOnceEndsTheWait() async {
        let inbox = PlayInbox()
        for _ in 0..<5_000 { await inbox.wait(upTo: .zero) }
        #expect(inbox.takeAll().isEmpty)
    }

    @Test func whatCameBeforeTheWaitAndACancellationEndIt() async {
        let inbox = PlayInbox()
        inbox.push(.stepped(1))
        await inbox.wait(upTo: nil)
        #expect(inbox.takeAll().count == 1)
        let waiting = Task { await inbox.wait(upTo: nil) }
        waiting.cancel()
        await waiting.value
        // An inbox whose task was cancelled waits no more.
        await inbox.wait(upTo: nil)
    }
}
#endif
