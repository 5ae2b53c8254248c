/// The messages of one channel as reply trees, flattened to lines from top to bottom.
///
/// Roots and replies stand in the remote's order. Replies whose parent is not there hang below a line that says why.
/// A circle of replies is opened at its first message. Works with a stack of its own, since chains may be long.
struct ThreadTree {
    /// A message as far as threads care.
    struct Node {
        let id: String
        let replyTo: String?
        /// Whether the parent lives: otherwise `deleted`, `unknown` or `compacted`.
        let parentState: String?
    }

    /// One line of the drawing.
    struct Line: Equatable {
        /// What the line shows.
        enum Content: Equatable {
            /// The message at a place of the input.
            case message(Int)
            /// A parent that is not there, and why.
            case lostParent(id: String, state: String)
        }

        /// The lines of the tree to the left of it.
        let prefix: String
        let content: Content
        /// Whether the message was made a root although it replies to one of its own replies.
        var opensCircle = false
    }

    /// Deeper replies are drawn at this depth, with their real depth as a number.
    private static let drawnDepthMax = 16

    private let nodes: [Node]
    private var children: [[Int]]
    private var orphans: [String: [Int]] = [:]
    private var lines: [Line] = []
    private var isDrawn: [Bool]

    /// Draws the trees of the messages, which come in the remote's order.
    static func lines(of nodes: [Node]) -> [Line] {
        var tree = ThreadTree(nodes)
        tree.draw()
        return tree.lines
    }

    private init(_ nodes: [Node]) {
        self.nodes = nodes
        children = Array(repeating: [], count: nodes.count)
        isDrawn = Array(repeating: false, count: nodes.count)
        let places = Dictionary(nodes.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        for (index, node) in nodes.enumerated() {
            guard let parent = node.replyTo else { continue }
            if let place = places[parent] {
                children[place].append(index)
            } else {
                orphans[parent, default: []].append(index)
            }
        }
    }

    private mutating func draw() {
        let places = Set(nodes.map(\.id))
        for (index, node) in nodes.enumerated() {
            guard let parent = node.replyTo else {
                drawTree(from: index)
                continue
            }
            guard !places.contains(parent), let replies = orphans.removeValue(forKey: parent) else { continue }
            lines.append(Line(prefix: "", content: .lostParent(id: parent, state: node.parentState ?? "unknown")))
            drawReplies(replies, below: "", depth: 1)
        }
        for index in nodes.indices where !isDrawn[index] { drawTree(from: index, opensCircle: true) }
    }

    private mutating func drawTree(from root: Int, opensCircle: Bool = false) {
        guard !isDrawn[root] else { return }
        isDrawn[root] = true
        lines.append(Line(prefix: "", content: .message(root), opensCircle: opensCircle))
        drawReplies(children[root], below: "", depth: 1)
    }

    private mutating func drawReplies(_ replies: [Int], below stem: String, depth: Int) {
        var pending = [Step]()
        push(replies, below: stem, depth: depth, onto: &pending)
        while let step = pending.popLast() {
            guard !isDrawn[step.index] else { continue }
            isDrawn[step.index] = true
            lines.append(Line(prefix: step.prefix, content: .message(step.index)))
            push(children[step.index], below: step.stem, depth: step.depth + 1, onto: &pending)
        }
    }

    private struct Step {
        let index: Int
        /// What stands before the message.
        let prefix: String
        /// What stands before the branches of its replies.
        let stem: String
        let depth: Int
    }

    private func push(_ replies: [Int], below stem: String, depth: Int, onto pending: inout [Step]) {
        let drawn = replies.filter { !isDrawn[$0] }
        for (offset, index) in drawn.enumerated().reversed() {
            if depth > Self.drawnDepthMax {
                pending.append(Step(index: index, prefix: "\(stem)└╴\(depth)╴ ", stem: stem, depth: depth))
            } else {
                let isLast = offset == drawn.count - 1
                pending.append(
                    Step(
                        index: index,
                        prefix: stem + (isLast ? "└─ " : "├─ "),
                        stem: stem + (isLast ? "   " : "│  "),
                        depth: depth
                    )
                )
            }
        }
    }
}
