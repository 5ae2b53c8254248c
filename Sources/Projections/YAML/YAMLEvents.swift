import CLibYAML

/// The events of one YAML document, in libyaml's order, before any value is built.
///
/// Hostile text is refused at the first event that reveals it, so reading takes time linear in the text (I23): nesting,
/// the number of values and their text are bounded, keys are scalars, and an anchor names a scalar only.
///
/// A class, because libyaml's parser must keep its address. Not `Sendable`: one caller reads all events, in one pass.
/// After a fault the object must not be read on.
final class YAMLEvents {
    /// The deepest nesting of lists and maps.
    static let depthMax = 64
    /// The most aliases.
    static let aliasesMax = 16
    /// The most values: scalars, lists and maps, aliases included, keys excluded.
    static let valuesMax = 4_000
    /// The most text in all scalars, aliases included, in bytes.
    static let textBytesMax = 1 << 20
    /// The longest tag, in bytes. libyaml copies the prefix of a `%TAG` directive for each tag.
    static let tagBytesMax = 64

    /// One event of the text.
    enum Event {
        case scalar(YAMLScalar)
        case sequenceStart, mappingStart
        /// The end of the innermost list or map.
        case collectionEnd
    }

    private enum Place {
        case element, key, value
    }

    // libyaml keeps pointers to `bytes` and into `parser`, so both are allocated here and live as long as this object.
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// The kind of the next node in each open list and map, the innermost last; empty at the top level. At most
    /// `depthMax`.
    private var places: [Place] = []
    /// The scalars by their anchors' names. A name that is given again names the later scalar, as YAML says.
    private var anchors: [String: YAMLScalar] = [:]
    private var aliasCount = 0
    private var valueCount = 0
    private var textBytes = 0
    /// Whether a document has begun.
    private var isOpen = false
    /// The number of libyaml's events so far. Tests compare it with the length of the text.
    private(set) var eventCount = 0
    /// The line on which the last event begins, from 1.
    private(set) var startLine = 1

    /// The line that libyaml has reached, or the line of its error, from 1.
    var line: Int {
        let state = parser.pointee
        return Int(state.error == YAML_NO_ERROR ? state.mark.line : state.problem_mark.line) + 1
    }

    /// Prepares to read a text, which is copied; reads no YAML yet.
    ///
    /// - Throws: `YAMLFault.costly` if libyaml would need more than linear time, `.invalid` if it has no memory.
    init(_ text: String) throws(YAMLFault) {
        guard YAMLCost.isLinear(text.utf8) else { throw .costly }
        // At least one byte, so that an empty text has an address.
        bytes = .allocate(capacity: max(1, text.utf8.count))
        _ = bytes.initialize(from: text.utf8)
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        // All stored properties are set by now, so `deinit` runs even if this fails. libyaml leaves nothing to free in
        // a parser that it could not initialize.
        guard yaml_parser_initialize(parser) == 1 else { throw .invalid }
        // Set, so that libyaml does not guess the encoding.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, text.utf8.count)
    }

    deinit {
        // The parser first: it points into `bytes`.
        yaml_parser_delete(parser)
        parser.deallocate()
        bytes.deallocate()
    }

    /// The next event of the only document; `nil` at its end. A second document is a fault.
    func next() throws(YAMLFault) -> Event? {
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { throw .invalid }
            // libyaml owns the event's texts. Everything that leaves this function is copied out of them before.
            defer { yaml_event_delete(&event) }
            eventCount += 1
            startLine = Int(event.start_mark.line) + 1
            switch event.type {
            case YAML_STREAM_START_EVENT, YAML_DOCUMENT_END_EVENT: continue
            case YAML_DOCUMENT_START_EVENT:
                // A second document.
                if isOpen { throw .invalid }
                isOpen = true
            case YAML_SCALAR_EVENT: return .scalar(try scalar(event))
            case YAML_ALIAS_EVENT: return .scalar(try alias(event.data.alias.anchor))
            case YAML_SEQUENCE_START_EVENT:
                try open(anchor: event.data.sequence_start.anchor, tag: event.data.sequence_start.tag, .element)
                return .sequenceStart
            case YAML_MAPPING_START_EVENT:
                try open(anchor: event.data.mapping_start.anchor, tag: event.data.mapping_start.tag, .key)
                return .mappingStart
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
                // libyaml ends only what it has started, so there is an open collection.
                places.removeLast()
                return .collectionEnd
            default: return nil
            }
        }
    }
}

extension YAMLEvents {
    private typealias CText = UnsafeMutablePointer<yaml_char_t>

    /// Notes the start of a list or map. An anchor on one is refused: an alias of a large value costs nothing to write
    /// and much to build.
    private func open(anchor: CText?, tag: CText?, _ place: Place) throws(YAMLFault) {
        guard places.last != .key else { throw .keyIsNoScalar }
        guard anchor == nil else { throw .anchorOnCollection }
        try check(tag: tag)
        try count(text: 0)
        guard places.count < Self.depthMax else { throw .tooDeep }
        places.append(place)
    }

    /// Copies a scalar out of its event, and notes its anchor.
    private func scalar(_ event: yaml_event_t) throws(YAMLFault) -> YAMLScalar {
        let scalar = event.data.scalar
        try check(tag: scalar.tag)
        try count(text: scalar.length)
        // libyaml sets `quoted_implicit` where the tag may be left out: the scalar is a text anyway.
        let tag = scalar.quoted_implicit == 1 ? nil : scalar.tag.map { String(cString: $0) }
        let found = YAMLScalar(
            // With its length, since `\0` in a quoted scalar is a NUL. libyaml has checked the UTF-8.
            text: String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self),
            isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE,
            tag: tag ?? YAMLScalar.textTag
        )
        if let anchor = scalar.anchor { anchors[String(cString: anchor)] = found }
        return found
    }

    /// The scalar that an alias names. Its text counts again: a few aliases of a long text unfold to a far longer one.
    private func alias(_ anchor: CText?) throws(YAMLFault) -> YAMLScalar {
        guard let anchor, let scalar = anchors[String(cString: anchor)] else { throw .invalid }
        aliasCount += 1
        guard aliasCount <= Self.aliasesMax else { throw .tooLarge }
        try count(text: scalar.text.utf8.count)
        return scalar
    }

    /// Accepts YAML's own tags, which change nothing, as scalars are the text as written. Refuses all others: no reader
    /// here knows their meaning.
    private func check(tag: CText?) throws(YAMLFault) {
        guard let tag else { return }
        var length = 0
        // Stops behind the limit, so a long tag costs no more than a short one. libyaml ends its texts with a NUL.
        while length <= Self.tagBytesMax, tag[length] != 0 { length += 1 }
        guard length <= Self.tagBytesMax else { throw .unknownTag }
        let text = String(cString: tag)
        guard text == "!" || text.hasPrefix("tag:yaml.org,2002:") else { throw .unknownTag }
    }

    /// Counts a node with `length` bytes of text, and advances its map from key to value or back.
    ///
    /// - Throws: `YAMLFault.tooLarge` beyond `textBytesMax` or `valuesMax`.
    private func count(text length: Int) throws(YAMLFault) {
        textBytes += length
        switch places.last {
        case .key: places[places.count - 1] = .value
        case .value:
            places[places.count - 1] = .key
            valueCount += 1
        case .element: valueCount += 1
        case nil: break
        }
        guard textBytes <= Self.textBytesMax, valueCount <= Self.valuesMax else { throw .tooLarge }
    }
}

/// A scalar, with escapes resolved and lines folded.
struct YAMLScalar {
    /// The tag of a text; also the tag of a scalar without one.
    static let textTag = "tag:yaml.org,2002:str"

    let text: String
    /// Whether the scalar has no quotes and is no block.
    let isPlain: Bool
    let tag: String

    /// Identifies a key within its map: two keys with one text and different tags are two keys.
    var identity: [String] { [text, tag] }
}

/// Why a text is not read as YAML.
enum YAMLFault: Error {
    case invalid, costly, tooDeep, tooLarge, keyIsNoScalar, anchorOnCollection, unknownTag, mergesNoMap

    /// A predicate that contains nothing of the text.
    var reason: String {
        switch self {
        case .invalid: "is no valid YAML"
        case .costly: "has more than \(YAMLCost.blankRunMax) blanks in a row or too many directives"
        case .tooDeep: "is nested too deeply"
        case .tooLarge: "unfolds to too much"
        case .keyIsNoScalar: "has a key that is no text"
        case .anchorOnCollection: "has an anchor on a list or map"
        case .unknownTag: "has a tag that YAML does not define"
        case .mergesNoMap: "merges something that is no map"
        }
    }
}
