import EventLog
import TestSupport
import Testing

@testable import Projections

/// Circles of replies are found, whoever closes them, and looking for them takes few steps.
@Suite struct CircleSearchTests {
    /// Random replies among few messages, in any order, with edits that answer another message.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func circlesAreThoseOfTheWholeChain(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var scene = ChatScene()
        var (found, missed) = (0, 0)
        for _ in 0..<600 {
            let id = Int.random(in: 1...40, using: &random)
            let parent =
                Int.random(in: 0...3, using: &random) == 0 ? nil : String(Int.random(in: 1...40, using: &random))
            scene.apply(scene.message("text", String(id), replyTo: parent))
            for number in 1...40 {
                let key = MessageKey(channel: scene.names.id("7"), id: scene.names.id(String(number)))
                var search = CircleSearch(from: key)
                let circle = search.circle(in: scene.messages)
                #expect(circle == Self.chain(from: key, in: scene.messages))
                if circle == nil { missed += 1 } else { found += 1 }
            }
        }
        #expect(found > 100 && missed > 100)
    }

    /// Messages that are answered before they come, each of them at the end of one long chain.
    @Test func manyAnsweredMessagesBelowALongChainTakeFewSteps() {
        let count = 2_000
        var scene = ChatScene()
        for number in 1...count {
            scene.apply(scene.message("text", String(number), replyTo: number == 1 ? nil : String(number - 1)))
        }
        var stepCount = 0
        for number in 1...count {
            let (answer, answered) = (String(100_000 + number), String(200_000 + number))
            scene.apply(scene.message("text", answer, replyTo: answered))
            scene.apply(scene.message("text", answered, replyTo: String(count)))
            var search = CircleSearch(from: MessageKey(channel: scene.names.id("7"), id: scene.names.id(answered)))
            #expect(search.circle(in: scene.messages) == nil)
            stepCount += search.stepCount
        }
        #expect(stepCount <= 8 * count)
    }

    /// A chain that arrives from its end: each message has all earlier ones below it, and nothing known above.
    @Test func aChainThatComesBackwardsTakesFewSteps() {
        let count = 2_000
        var scene = ChatScene()
        var stepCount = 0
        for number in (1...count).reversed() {
            scene.apply(scene.message("text", String(number), replyTo: String(number - 1)))
            var search = CircleSearch(
                from: MessageKey(channel: scene.names.id("7"), id: scene.names.id(String(number)))
            )
            #expect(search.circle(in: scene.messages) == nil)
            stepCount += search.stepCount
        }
        #expect(stepCount <= 8 * count)
    }

    private static func chain(from key: MessageKey, in messages: Messages) -> [MessageKey]? {
        var path: [MessageKey] = []
        var next: MessageKey? = key
        while let here = next, !path.contains(here) {
            path.append(here)
            next = messages.parent(of: here)
        }
        return next == key ? path : nil
    }
}
