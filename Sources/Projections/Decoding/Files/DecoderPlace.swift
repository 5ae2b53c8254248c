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

    let start: Start
    /// The names of members and the numbers of elements, from the outside.
    let steps: [String]

    init(start: Start, steps: [String]) {
        (self.start, self.steps) = (start, steps)
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
            steps = []
            return
        }
        guard rest.first == "/" else { return nil }
        steps = rest.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Self.step)
        guard steps.count <= Self.stepsMax else { return nil }
    }

    /// A step without its escapes, in the order of RFC 6901, section 4: `~1` is `/`, then `~0` is `~`.
    private static func step(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "~")) else { return String(text) }
        return String(text).replacing("~1", with: "/").replacing("~0", with: "~")
    }

    /// The value at the end of the pointer; `nil` if a step finds nothing.
    func value(in start: JSONValue) -> JSONValue? {
        var value = start
        for step in steps {
            Steps.count(1)
            switch value {
            case .object(let object):
                guard let member = object[step] else { return nil }
                value = member
            case .array(let elements):
                guard let index = Self.index(step), index < elements.count else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    /// The number of an element: digits without a leading zero.
    private static func index(_ step: String) -> Int? {
        guard step.utf8.allSatisfy({ (0x30...0x39).contains($0) }), step == "0" || step.utf8.first != 0x30 else {
            return nil
        }
        return Int(step)
    }
}
