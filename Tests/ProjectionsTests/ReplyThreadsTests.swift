import Testing

@testable import Projections

@Suite struct ReplyThreadsTests {
    private func threads(_ replies: [(id: String, parent: String?)], deleted: [String] = []) -> (ReplyThreads, Names) {
        var scene = ChatScene()
        for reply in replies { scene.apply(scene.message("text", reply.id, replyTo: reply.parent)) }
        for id in deleted { scene.apply(scene.delete(id)) }
        let channel = scene.names.id("7")
        return (ReplyThreads(of: channel, in: scene.messages, names: scene.names), scene.names)
    }

    private func drawn(_ replies: [(id: String, parent: String?)], deleted: [String] = []) -> [String] {
        let (threads, names) = threads(replies, deleted: deleted)
        return threads.lines.map { line in
            String(repeating: ".", count: line.depth) + names.text(line.key.id)
                + (line.lostParent.map { " (\($0.rawValue))" } ?? "")
        }
    }

    @Test func repliesStandBelowTheirParentsInTheRemotesOrder() {
        #expect(drawn([("5", "1"), ("2", nil), ("3", "1"), ("1", nil), ("4", "3")]) == ["1", ".3", "..4", ".5", "2"])
    }

    @Test func aReplyWhoseParentIsGoneIsARootThatSaysSo() {
        #expect(drawn([("1", nil), ("2", "1"), ("3", "9")], deleted: ["1"]) == ["2 (deleted)", "3 (unknown)"])
    }

    @Test func aReplyToItselfIsARoot() {
        let (threads, _) = threads([("1", "1"), ("2", "1")])
        #expect(threads.lines.map(\.depth) == [0, 1])
        #expect(threads.circles.map(\.count) == [1])
    }

    @Test func aCircleIsBrokenAtItsFirstMessage() {
        #expect(drawn([("3", "2"), ("2", "1"), ("1", "3"), ("4", "2")]) == ["1", ".2", "..3", "..4"])
        #expect(threads([("3", "2"), ("2", "1"), ("1", "3"), ("4", "2")]).0.circles.count == 1)
    }

    @Test func twoCirclesAreBothBroken() {
        #expect(drawn([("1", "2"), ("2", "1"), ("3", "4"), ("4", "3"), ("5", "4")]) == ["1", ".2", "3", ".4", "..5"])
    }

    @Test func aChainOfAnyDepthIsDrawn() {
        let chain = (1...20_000).map { (id: String($0), parent: $0 == 1 ? nil : String($0 - 1)) }
        let (threads, _) = threads(chain)
        #expect(threads.lines.last?.depth == 19_999)
        #expect(threads.circles.isEmpty)
    }
}
