import Testing

@testable import logtool

@Suite struct ThreadTreeTests {
    @Test func repliesHangBelowTheirParents() {
        let drawing = draw([("a", nil), ("b", nil), ("c", "a"), ("d", "c"), ("e", "a"), ("f", "b")])
        #expect(drawing == ["a", "├─ c", "│  └─ d", "└─ e", "b", "└─ f"])
    }

    @Test func aReplyBeforeItsParentStandsBelowIt() {
        #expect(draw([("reply", "root"), ("root", nil)]) == ["root", "└─ reply"])
    }

    @Test func repliesToOneLostParentStandTogether() {
        #expect(draw([("a", "gone"), ("b", nil), ("c", "gone")]) == ["(deleted gone)", "├─ a", "└─ c", "b"])
    }

    @Test func aCircleIsOpenedAtItsFirstMessage() {
        #expect(draw([("a", "b"), ("b", "a"), ("c", "c")]) == ["a ↻", "└─ b", "c ↻"])
    }

    @Test func everyMessageOfAVeryLongChainIsDrawnOnce() {
        let chain = (0..<50_000).map { (String($0), $0 == 0 ? nil : String($0 - 1)) }
        let drawing = draw(chain)
        #expect(drawing.count == 50_000)
        #expect(drawing.last?.hasSuffix("└╴49999╴ 49999") == true)
    }

    private func draw(_ messages: [(id: String, replyTo: String?)]) -> [String] {
        let nodes = messages.map { ThreadTree.Node(id: $0.id, replyTo: $0.replyTo, parentState: "deleted") }
        return ThreadTree.lines(of: nodes).map { line in
            switch line.content {
            case .message(let index): line.prefix + nodes[index].id + (line.opensCircle ? " ↻" : "")
            case .lostParent(let id, let state): "(\(state) \(id))"
            }
        }
    }
}
