/// Columns with their values, by name. Versions share what they have in common, so each takes what it changes and not what it has.
///
/// A balanced tree: of two subtrees beside each other, neither has more than `weightMax` times as many columns as the other.
struct SharedColumns: Sendable {
    struct Column: Codable, Sendable {
        let name: String
        let value: StoredJSON
    }

    fileprivate final class Node: Sendable {
        let column: Column
        let left: Node?
        let right: Node?
        let count: Int

        init(_ column: Column, _ left: Node?, _ right: Node?) {
            (self.column, self.left, self.right) = (column, left, right)
            count = (left?.count ?? 0) + (right?.count ?? 0) + 1
        }
    }

    private static let weightMax = 3
    private var root: Node?

    init() {}

    /// - Parameter columns: sorted by name, each name once; the values have texts of their own. Cost: O(columns).
    init(sorted columns: [Column]) {
        root = Self.node(columns[...])
    }

    private static func node(_ columns: ArraySlice<Column>) -> Node? {
        if columns.isEmpty { return nil }
        let middle = columns.startIndex + columns.count / 2
        return Node(columns[middle], node(columns[..<middle]), node(columns[(middle + 1)...]))
    }

    /// All columns, in the order of the names' UTF-8 bytes. Cost: O(columns).
    var all: [Column] {
        var columns: [Column] = []
        var rest = Rest(root)
        while let column = rest.next() { columns.append(column) }
        return columns
    }

    /// The value of a column. Setting `nil` removes it; a value with the same text changes nothing. Cost: O(log columns).
    subscript(name: String) -> StoredJSON? {
        get {
            var node = root
            while let here = node {
                Steps.count(1)
                let order = ExactText.order(name, here.column.name)
                if order == 0 { return here.column.value }
                node = order < 0 ? here.left : here.right
            }
            return nil
        }
        set {
            let known = self[name]
            if let value = newValue, !(known?.hasSameText(as: value) ?? false) {
                root = Self.set(Column(name: name, value: value.detached), in: root)
            } else if newValue == nil, known != nil {
                root = Self.remove(name, from: root)
            }
        }
    }

    private static func set(_ column: Column, in node: Node?) -> Node {
        guard let node else { return Node(column, nil, nil) }
        Steps.count(1)
        let order = ExactText.order(column.name, node.column.name)
        if order == 0 { return Node(column, node.left, node.right) }
        return order < 0
            ? balanced(node.column, set(column, in: node.left), node.right)
            : balanced(node.column, node.left, set(column, in: node.right))
    }

    private static func remove(_ name: String, from node: Node?) -> Node? {
        guard let node else { return nil }
        Steps.count(1)
        let order = ExactText.order(name, node.column.name)
        if order < 0 { return balanced(node.column, remove(name, from: node.left), node.right) }
        if order > 0 { return balanced(node.column, node.left, remove(name, from: node.right)) }
        guard let left = node.left, let right = node.right else { return node.left ?? node.right }
        // The next column takes the place of the removed one.
        var next = right
        while let before = next.left { next = before }
        return balanced(next.column, left, remove(next.column.name, from: right))
    }

    /// A node of two subtrees that were balanced before one of them got or lost one column.
    private static func balanced(_ column: Column, _ left: Node?, _ right: Node?) -> Node {
        let counts = (left: left?.count ?? 0, right: right?.count ?? 0)
        if counts.left + counts.right <= 1 { return Node(column, left, right) }
        if counts.right > weightMax * counts.left, let right {
            guard let inner = right.left, inner.count >= 2 * (right.right?.count ?? 0) else {
                return Node(right.column, Node(column, left, right.left), right.right)
            }
            return Node(
                inner.column,
                Node(column, left, inner.left),
                Node(right.column, inner.right, right.right)
            )
        }
        if counts.left > weightMax * counts.right, let left {
            guard let inner = left.right, inner.count >= 2 * (left.left?.count ?? 0) else {
                return Node(left.column, left.left, Node(column, left.right, right))
            }
            return Node(inner.column, Node(left.column, left.left, inner.left), Node(column, inner.right, right))
        }
        return Node(column, left, right)
    }
}

extension SharedColumns {
    /// The columns whose values differ from those of an earlier version, as JSON or, if `byText`, as texts, in the order of
    /// their names. Cost: O(d log n) for d columns that were set between the two versions, of n; of versions that share
    /// nothing, O(n).
    func changes(since before: SharedColumns, byText: Bool = false) -> [RowEffect.ColumnChange] {
        var changes: [RowEffect.ColumnChange] = []
        var (old, new) = (Rest(before.root), Rest(root))
        while old.passCommon(&new) {
            let order = old.order(new)
            let (left, right) = (order <= 0 ? old.next() : nil, order >= 0 ? new.next() : nil)
            if let left, let right {
                if left.value.hasSameText(as: right.value) { continue }
                if !byText, left.value.isSame(as: right.value) { continue }
            }
            guard let name = (left ?? right)?.name else { break }
            changes.append(RowEffect.ColumnChange(name: name, value: right?.value))
        }
        return changes
    }

    /// What of a tree is not read yet: the parts, the next one last.
    private struct Rest {
        private enum Unread {
            case tree(Node)
            case column(Column)
        }

        private var parts: [Unread] = []

        init(_ root: Node?) {
            if let root { parts.append(.tree(root)) }
        }

        mutating func next() -> Column? {
            while let part = parts.popLast() {
                switch part {
                case .column(let column): return column
                case .tree(let node): open(node)
                }
            }
            return nil
        }

        /// Passes the subtrees that both rests begin with, until a column is the next of each; false if both are at their
        /// ends.
        mutating func passCommon(_ other: inout Rest) -> Bool {
            while true {
                let (mine, theirs) = (tree, other.tree)
                // The larger one first: both then come to a subtree that they share at the same time.
                if let mine, let theirs, mine === theirs {
                    parts.removeLast()
                    other.parts.removeLast()
                } else if let mine, mine.count >= theirs?.count ?? 0 {
                    parts.removeLast()
                    open(mine)
                } else if let theirs {
                    other.parts.removeLast()
                    other.open(theirs)
                } else {
                    return !(parts.isEmpty && other.parts.isEmpty)
                }
            }
        }

        /// Less than, equal to or greater than 0 as the next column sorts before, like or after the other's; a missing one
        /// sorts last.
        func order(_ other: Rest) -> Int {
            guard let mine = column else { return 1 }
            guard let theirs = other.column else { return -1 }
            return ExactText.order(mine.name, theirs.name)
        }

        private var tree: Node? { if case .tree(let node)? = parts.last { node } else { nil } }
        private var column: Column? { if case .column(let column)? = parts.last { column } else { nil } }

        private mutating func open(_ node: Node) {
            Steps.count(1)
            if let right = node.right { parts.append(.tree(right)) }
            parts.append(.column(node.column))
            if let left = node.left { parts.append(.tree(left)) }
        }
    }
}

extension SharedColumns: Codable {
    init(from decoder: any Decoder) throws {
        for column in try [Column](from: decoder) { self[column.name] = column.value }
    }

    func encode(to encoder: any Encoder) throws { try all.encode(to: encoder) }
}
