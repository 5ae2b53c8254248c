import JSON

/// A place in a payload: a JSON Pointer (RFC 6901) from one of the values that enclose each other there.
struct DecoderPlace: Hashable, Sendable {
    /// The value from which the pointer leads.
    enum Start: Hashable, Sendable {
        /// The innermost value: the element of a loop, the value of `from`, or else the payload.
        case here
        /// So many levels outside of it.
        case outside(Int)
        /// The whole payload.
        case payload
    }

    /// The name of a member, or the number of an element.
    private struct Step: Hashable, Sendable {
        let name: JSONName
        /// `nil` if the name is no number of an element: digits without a leading zero.
        let number: Int?

        init(_ text: String) {
            name = JSONName(text)
            let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            number = isNumber && (text == "0" || text.utf8.first != 0x30) ? Int(text) : nil
        }
    }

    let start: Start
    private let path: [Step]
    /// The names of members and the numbers of elements, from the outside.
    var steps: [String] { path.map(\.name.text) }

    init(start: Start, steps: [String]) {
        (self.start, path) = (start, steps.map { Step($0) })
    }

    /// The deepest pointer, in steps.
    private static let stepsMax = 16

    /// Reads `/a/b`, `.` (the value itself), `^/a` (one level outside, `^^/a` two) and `$/a` (the payload); `nil` for any
    /// other text.
    init?(_ text: String) {
        var rest = text[...]
        if rest.first == "$" {
            rest.removeFirst()
            start = .payload
        } else {
            let levels = rest.prefix { $0 == "^" }.count
            rest.removeFirst(levels)
            start = levels == 0 ? .here : .outside(levels)
        }
        if rest == "." {
            path = []
            return
        }
        guard rest.first == "/" else { return nil }
        path = rest.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { Step(Self.step($0)) }
        guard path.count <= Self.stepsMax else { return nil }
    }

    /// A step without its escapes, in the order of RFC 6901, section 4: `~1` is `/`, then `~0` is `~`.
    private static func step(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "~")) else { return String(text) }
        return String(text).replacing("~1", with: "/").replacing("~0", with: "~")
    }

    /// The value at the end of the pointer; `nil` if a step finds nothing.
    func value(in start: DecoderFound) -> DecoderFound? {
        if path.isEmpty { return start }
        guard case .view(let view) = start else { return nil }
        return value(in: view).map { .view($0) }
    }

    func value(in start: JSONView) -> JSONView? {
        var value = start
        for index in path.indices {
            Steps.count(1)
            let inner =
                value.isObject ? value.member(path[index].name) : path[index].number.flatMap { value.element($0) }
            guard let inner else { return nil }
            value = inner
        }
        return value
    }
}
