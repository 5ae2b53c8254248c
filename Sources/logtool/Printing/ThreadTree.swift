import Projections

/// The messages of one channel as reply trees, drawn as lines from top to bottom.
///
/// Roots and replies are in the remote's order. Replies with a missing parent hang below a line that says why. Linear
/// time; a stack of its own takes the place of recursion, because chains may be long.
struct ThreadTree {
    /// A message as far as threads care.
    struct Node {
        let id: String
        /// The answered message's id; `nil` for a message that answers none.
        let replyTo: String?
        /// Why the parent is missing (`deleted`, `unknown` or `compacted`), or that it lives.
        let parentState: String?
    }

    /// One line of the drawing.
    struct Line: Equatable {
        /// What the line shows.
        enum Content: Equatable {
            /// The message at an index of the input.
            case message(Int)
            /// A missing parent, and why it is missing.
            case lostParent(id: String, state: String)
        }

        /// The lines of the tree to the left of it.
        let prefix: String
        let content: Content
        /// True if the message was made a root although it replies to one of its own replies.
        var opensCircle = false
    }

    /// Deeper replies are drawn at this depth, with their real depth as a number: prefixes of a long chain would take
    /// quadratic space.
    private static let drawnDepthMax = 16

    /// The trees of the messages' indexes, with circles broken.
    private let forest: ReplyForest
    private var lines: [Line] = []

    /// Draws the trees of messages; `nodes` are in the remote's order. Of two messages with one id, replies hang below
    /// the first.
    static func lines(of nodes: [Node]) -> [Line] {
        let places = Dictionary(nodes.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let parents = nodes.map { node in node.replyTo.flatMap { places[$0] } }
        var tree = ThreadTree(forest: ReplyForest(parents: parents))
        tree.draw(nodes, isLost: { nodes[$0].replyTo != nil && parents[$0] == nil })
        return tree.lines
    }

    /// The prefix of the second and later lines of a message whose first line has this prefix.
    static func stem(below prefix: String) -> String {
        guard let branch = prefix.lastIndex(where: { "├└×".contains($0) }) else { return prefix }
        let rest = prefix[branch...]
        return prefix[..<branch] + (rest.first == "├" ? "│" : " ") + String(repeating: " ", count: rest.count - 1)
    }

    private init(forest: ReplyForest) {
        self.forest = forest
    }

    /// Draws all trees. Orphans of one parent are drawn together, at the place of the first of them.
    ///
    /// A root either answers nothing, or its parent is not in the list, or it is the first of a circle.
    private mutating func draw(_ nodes: [Node], isLost: (Int) -> Bool) {
        let roots = forest.roots
        var orphans = Dictionary(grouping: roots.filter(isLost)) { nodes[$0].replyTo ?? "" }
        for root in roots {
            guard isLost(root), let parent = nodes[root].replyTo else {
                let opensCircle = nodes[root].replyTo != nil
                lines.append(Line(prefix: "", content: .message(root), opensCircle: opensCircle))
                drawReplies(forest.replies[root])
                continue
            }
            // The first orphan of this parent has drawn the others, too.
            guard let replies = orphans.removeValue(forKey: parent) else { continue }
            let state = nodes[root].parentState ?? "unknown"
            lines.append(Line(prefix: "", content: .lostParent(id: parent, state: state)))
            drawReplies(replies)
        }
    }

    /// Draws replies and everything below them, depth first. `pending` holds what is still to be drawn, the next on
    /// top.
    private mutating func drawReplies(_ replies: [Int]) {
        var pending = [Step]()
        Self.push(replies, below: "", depth: 1, onto: &pending)
        while let step = pending.popLast() {
            lines.append(Line(prefix: step.prefix, content: .message(step.index)))
            Self.push(forest.replies[step.index], below: step.stem, depth: step.depth + 1, onto: &pending)
        }
    }

    /// One message on the stack. Prefixes are made when it is pushed, because they depend on its place among its
    /// siblings.
    private struct Step {
        let index: Int
        /// The prefix of the message.
        let prefix: String
        /// The prefix of its replies' branches.
        let stem: String
        let depth: Int
    }

    /// Pushes replies in reverse, so that the first is popped first.
    private static func push(_ replies: [Int], below stem: String, depth: Int, onto pending: inout [Step]) {
        for (offset, index) in replies.enumerated().reversed() {
            if depth > drawnDepthMax {
                pending.append(Step(index: index, prefix: "\(stem)└╴\(depth)╴ ", stem: stem, depth: depth))
            } else {
                let isLast = offset == replies.count - 1
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
