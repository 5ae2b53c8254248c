/// Tests of an event, of which one group must fit with all its tests; none fit any event.
struct DecoderTests: Sendable {
    struct Test: Sendable {
        let value: DecoderValue
        let condition: DecoderCondition
    }

    /// The pattern of a request's path, as `/api/channels/{channel}/messages`, or of a JSON Pointer (RFC 6901) that an event
    /// holds; `*` is any one part.
    struct Pattern: Sendable {
        enum Part: Sendable {
            case literal(String)
            case any
            case named(String)
        }

        let parts: [Part]

        /// The named parts of a path that fits; `nil` if it does not.
        func match(_ path: [String]) -> [String: String]? {
            guard path.count == parts.count else { return nil }
            var named: [String: String] = [:]
            for (part, text) in zip(parts, path) {
                switch part {
                case .literal(let literal): guard ExactText.areSame(literal, text) else { return nil }
                case .any: break
                case .named(let name): named[name] = text
                }
            }
            return named
        }
    }

    final class Group: Sendable {
        let paths: [Pattern]
        let tests: [Test]
        /// Whether a test names parts of a pointer.
        let hasPointers: Bool
        /// Whether the event goes to the remote.
        let isOutgoing: Bool?
        /// `open` or `close` for the event of a link. Groups without it fit no link.
        let link: String?

        init(paths: [Pattern] = [], tests: [Test], isOutgoing: Bool? = nil, link: String? = nil) {
            (self.paths, self.tests, self.isOutgoing, self.link) = (paths, tests, isOutgoing, link)
            hasPointers = tests.contains { $0.condition.hasPointer }
        }
    }

    var groups: [Group] = []

    static let any = DecoderTests()
}

/// What a value must be.
indirect enum DecoderCondition: Sendable {
    case present
    case missing
    case null
    /// A text, number or truth value that is written so.
    case written(String)
    /// A text with these bytes.
    case text(String)
    /// As another value is.
    case same(DecoderValue)
    case starts(String)
    case contains(String)
    /// A JSON Pointer of this pattern, as JSON Patch (RFC 6902) has them.
    case pointer(DecoderTests.Pattern)
    /// An expression over the value's members holds.
    case holds(ValueExpression)
    /// One of the types of JSON: `text`, `number`, `truth`, `list`, `object`.
    case type(String)
    case anyOf([DecoderCondition])
    case not(DecoderCondition)

    /// Whether a value fits. `other` finds the value of `same`.
    func fits(_ value: DecoderFound?, _ other: (DecoderValue) -> DecoderFound?) -> Bool {
        switch self {
        case .starts, .contains: Steps.count(value?.writtenCount ?? 0)
        default: break
        }
        return switch self {
        case .present: value.map { !$0.isNull } ?? false
        case .missing: value == nil
        case .null: value?.isNull ?? false
        case .written(let text): value?.isWritten(text) ?? false
        case .text(let text): value?.isText(text) ?? false
        case .same(let wanted): value.flatMap { value in other(wanted).map { value.isSame(as: $0) } } ?? false
        case .starts(let text): value?.string?.utf8.starts(with: text.utf8) ?? false
        case .contains(let text):
            value?.string.map { text.isEmpty || Array($0.utf8).firstRange(of: Array(text.utf8)) != nil } ?? false
        case .pointer: names(in: value) != nil
        case .holds(let expression): value.map { expression.holds(for: $0.value) } ?? false
        case .type(let name): value?.typeName == name
        case .anyOf(let conditions): conditions.contains { $0.fits(value, other) }
        case .not(let condition): !condition.fits(value, other)
        }
    }

    /// Whether a pattern may name parts of a pointer.
    var hasPointer: Bool {
        switch self {
        case .pointer: true
        case .anyOf(let conditions): conditions.contains(where: \.hasPointer)
        default: false
        }
    }

    /// The parts of a pointer that its pattern names; `nil` if the value is no such pointer, or no pattern is asked for.
    func names(in value: DecoderFound?) -> [String: String]? {
        switch self {
        case .pointer(let pattern):
            guard let text = value?.string, text.hasPrefix("/"), let place = DecoderPlace(text) else { return nil }
            return pattern.match([""] + place.steps)
        case .anyOf(let conditions): return conditions.lazy.compactMap { $0.names(in: value) }.first
        default: return nil
        }
    }
}
