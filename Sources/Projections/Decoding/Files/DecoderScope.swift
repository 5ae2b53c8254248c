import EventLog
import JSON
import Kinds

/// One event while a decoder file reads it: its payload, the values that enclose the one that a step is at, and what its
/// envelope says.
struct DecoderScope {
    /// What a member is.
    enum Stated<Value> {
        /// The event does not tell.
        case unstated
        /// The event tells that there is none.
        case none
        case value(Value)
        /// The value has another type.
        case fault

        /// The value; `nil` for anything else.
        var known: Value? { if case .value(let value) = self { value } else { nil } }
        var isStated: Bool { if case .unstated = self { false } else { true } }
        var isFault: Bool { if case .fault = self { true } else { false } }
    }

    /// A value that the steps have entered.
    private struct Level {
        let value: DecoderFound
        /// The name of the member that it is, in a loop over an object.
        let key: String?
    }

    /// The longest text, in bytes, that the elements of a loop may read from outside of the loop. Lists and objects from there
    /// are not read at all: each element could repeat them.
    private static let outerTextBytesMax = 4096

    /// Shared by all copies of the scope.
    private let memory: Memory
    /// The payload first.
    private var levels: [Level]
    /// The innermost level, as an index in `levels`.
    private var top = 0
    /// How many levels enclose the innermost loop; 0 outside of loops.
    private var loopedLevels = 0
    /// The parts of the path, and of pointers, that patterns of tests name.
    var named: [String: (text: String, loops: Int)] = [:]

    private var absences: DecoderAbsences { memory.absences }
    private var isOutgoing: Bool { memory.isOutgoing }
    private var link: String? { memory.link }

    init(
        _ payload: JSONDocument,
        _ attributes: Attributes,
        isLink: Bool,
        _ absences: DecoderAbsences,
        isTraced: Bool = false
    ) {
        memory = Memory(payload, attributes, isLink: isLink, absences, isTraced: isTraced)
        levels = []
        levels.reserveCapacity(4)
        levels.append(Level(value: .view(payload.root), key: nil))
    }

    /// A text without its percent escapes; bytes that are no UTF-8 become U+FFFD.
    fileprivate static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - Kept values

    /// The name of the connection; empty if the event has none.
    var connection: String { memory.attributes["connection"] ?? "" }

    /// Exchanges what is kept, for all copies of the scope.
    func lend(_ kept: inout DecoderKept) { swap(&memory.kept, &kept) }

    /// What a value is kept for: the connection, or what the text of a value names; `nil` if that is none.
    func owner(_ value: DecoderValue?) -> DecoderKept.Owner? {
        guard let value else { return .connection(ExactText(connection)) }
        return self.value(value)?.writtenText.map { .thing(ExactText($0)) }
    }

    func keep(_ text: String?, as name: String, of owner: DecoderKept.Owner, at sequence: UInt64) {
        memory.kept.keep(text, as: name, of: owner, at: sequence)
    }

    // MARK: - Traces

    /// What the effects have read so far, of all copies of the scope.
    var reads: [DecoderRead] { memory.reads }

    /// Notes which effect reads from now on, for all copies of the scope.
    func begin(_ effect: DecoderEffect, _ line: Int?) {
        if memory.isTraced { memory.effect = ("\(effect.operation.rawValue) \(effect.subject.rawValue)", line ?? 0) }
    }

    /// Notes what a member is read from.
    func noteRead(_ member: @autoclosure () -> String, _ value: DecoderValue) {
        guard memory.isTraced, memory.reads.count < Self.readsMax else { return }
        let found = self.value(value)
        memory.reads.append(
            DecoderRead(
                line: memory.effect.line,
                effect: memory.effect.name,
                member: member(),
                source: value.description,
                value: found?.value,
                place: found.flatMap { memory.place(of: $0) }
            )
        )
    }

    /// The most reads of one event that are noted.
    private static let readsMax = 1_000

    /// What the memory has of joined texts.
    var joins: [ExactText: [String]]? { memory.joins }

    /// Notes what is joined from now on, for all copies of the scope.
    func noteJoins() { memory.joins = [:] }

    // MARK: - Levels

    /// The scope as it is one level further out. Nothing is copied.
    var outside: DecoderScope {
        var outside = self
        outside.top -= 1
        return outside
    }

    /// Does something one level further in.
    mutating func entering(
        _ value: DecoderFound,
        key: String? = nil,
        isLoop: Bool,
        _ body: (inout DecoderScope) -> Void
    ) {
        let looped = loopedLevels
        if top + 1 < levels.count { levels.removeSubrange((top + 1)...) }
        if isLoop { loopedLevels = levels.count }
        levels.append(Level(value: value, key: key))
        top += 1
        body(&self)
        levels.removeLast()
        top -= 1
        loopedLevels = looped
    }

    // MARK: - Tests

    /// Whether tests of the whole event fit it. What goes to the remote fits only tests that ask for it.
    mutating func takes(_ tests: DecoderTests) -> Bool {
        if tests.groups.isEmpty { return !isOutgoing && link == nil }
        return fits(tests) { [isOutgoing, link] in ($0.isOutgoing ?? false) == isOutgoing && $0.link == link }
    }

    /// Whether the value that a step is at fits one of the groups; keeps the parts of the path that its pattern names.
    mutating func fits(_ tests: DecoderTests) -> Bool {
        tests.groups.isEmpty
            || fits(tests) { [isOutgoing, link] in
                ($0.isOutgoing ?? isOutgoing) == isOutgoing && ($0.link ?? link) == link
            }
    }

    private mutating func fits(_ tests: DecoderTests, _ isMeant: (DecoderTests.Group) -> Bool) -> Bool {
        for group in tests.groups where isMeant(group) {
            // Most groups have no path: without one nothing is named, and nothing needs a copy.
            guard !group.paths.isEmpty || group.hasPointers else {
                if group.tests.allSatisfy({ $0.condition.fits(value($0.value)) { value($0) } }) { return true }
                continue
            }
            var scope = self
            if !group.paths.isEmpty {
                guard let found = group.paths.lazy.compactMap({ [memory] in $0.match(memory.path) }).first else {
                    continue
                }
                scope.named = found.mapValues { ($0, loopedLevels) }
            }
            guard group.tests.allSatisfy({ $0.condition.fits(scope.value($0.value)) { scope.value($0) } }) else {
                continue
            }
            // Only a group that fits names parts.
            for test in group.tests {
                if let found = test.condition.names(in: scope.value(test.value)) {
                    scope.named.merge(found.mapValues { ($0, loopedLevels) }) { _, last in last }
                }
            }
            named = scope.named
            return true
        }
        return false
    }

    // MARK: - Values

    /// What is found; `nil` if nothing is there.
    func value(_ value: DecoderValue) -> DecoderFound? {
        switch value {
        case .place(let place):
            guard let start = start(place.start), let found = place.value(in: start.value) else { return nil }
            // Each element of a loop may read it.
            return start.isOutside && !memory.takes(found) ? nil : found
        case .kept(let name, let owned):
            guard let owner = owner(owned), let text = memory.kept.read(name, of: owner) else { return nil }
            return loopedLevels > 0 && !memory.takes(.text(text)) ? nil : .text(text)
        case .key(let outside):
            let index = top - outside
            guard index >= 0, let key = levels[index].key else { return nil }
            return index < loopedLevels && !memory.takes(.text(key)) ? nil : .text(key)
        case .text(let text): return .text(text)
        case .path(let name):
            guard let part = named[name] else { return nil }
            return part.loops < loopedLevels && !memory.takes(.text(part.text)) ? nil : .text(part.text)
        case .query(let name): return memory.query[ExactText(name)].map { .text($0) }
        case .attribute(let name): return memory.attributes[name].map { .text($0) }
        case .first(let values):
            for place in values.indices {
                guard let found = self.value(values[place]) else { continue }
                if place == values.count - 1 || !found.isNull && !found.isText("") { return found }
            }
            return nil
        case .join(let values, let separator):
            var stated: [String] = []
            let texts = values.flatMap { value -> [String] in
                guard let found = self.value(value) else { return [] }
                let texts =
                    found.elements?.compactMap { $0.written?.string }
                    ?? found.writtenText.map { $0.isEmpty ? [] : [$0] } ?? []
                if case .view = found { stated += texts }
                return texts
            }
            Steps.count(texts.reduce(texts.count) { $0 + $1.utf8.count })
            if texts.isEmpty { return nil }
            let joined = texts.joined(separator: separator)
            if memory.joins != nil { memory.joins?[ExactText(joined)] = stated }
            return .text(joined)
        case .split(let value, let separator, let part):
            guard let text = self.value(value)?.writtenText else { return nil }
            Steps.count(text.utf8.count)
            return Self.part(part, of: Array(text.utf8), between: Array(separator.utf8)).map { .text($0) }
        case .strip(let value, let prefix, let suffix):
            guard let text = self.value(value)?.writtenText else { return nil }
            Steps.count(text.utf8.count)
            var bytes = Array(text.utf8)[...]
            if bytes.starts(with: prefix.utf8) { bytes = bytes.dropFirst(prefix.utf8.count) }
            if bytes.reversed().starts(with: suffix.utf8.reversed()) { bytes = bytes.dropLast(suffix.utf8.count) }
            return .text(String(decoding: bytes, as: UTF8.self))
        case .json(let value, let place):
            guard let text = self.value(value)?.string, let parsed = memory.parsed(text) else { return nil }
            return place.value(in: parsed).map { .view($0) }
        case .time(let value, _): return self.value(value)
        case .when(let value, let tests, let isMeant):
            var scope = self
            return scope.fits(tests) == isMeant ? scope.value(value) : nil
        }
    }

    /// The value from which a place leads, and whether it lies outside of the innermost loop.
    private func start(_ start: DecoderPlace.Start) -> (value: DecoderFound, isOutside: Bool)? {
        let index =
            switch start {
            case .here: top
            case .outside(let count): top - count
            case .payload: 0
            }
        guard index >= 0 else { return nil }
        return (levels[index].value, index < loopedLevels)
    }

    /// A part of a text, counted from 0; `nil` if there are fewer. Compares bytes.
    private static func part(_ wanted: Int, of text: [UInt8], between separator: [UInt8]) -> String? {
        var (rest, number) = (text[...], 0)
        while let found = rest.firstRange(of: separator) {
            if number == wanted { return String(decoding: rest[..<found.lowerBound], as: UTF8.self) }
            rest = rest[found.upperBound...]
            number += 1
        }
        return number == wanted ? String(decoding: rest, as: UTF8.self) : nil
    }

    /// What is remembered while one event is read, by all copies of its scope.
    private final class Memory {
        let attributes: Attributes
        let absences: DecoderAbsences
        let isOutgoing, isTraced: Bool
        /// `open` or `close` for the event of a link; `nil` for any other.
        let link: String?
        /// The parts of the request's path, percent-decoded.
        private(set) lazy var path =
            target.first.map {
                $0.split(separator: "/", omittingEmptySubsequences: false).map(DecoderScope.decoded)
            } ?? [""]
        /// The request's query, percent-decoded.
        private(set) lazy var query = target.count > 1 ? Self.query(target[1]) : [:]

        /// The most bytes that the elements of loops may read from outside of them, in one event.
        private static let outerBytesMax = 16 << 20
        private var outerBytes = 0
        /// The effect that reads, and what was read, if that is traced.
        var effect = (name: "", line: 0)
        var reads: [DecoderRead] = []
        /// The texts that were joined, with what the payload has of each; `nil` unless somebody asks for them.
        var joins: [ExactText: [String]]?
        /// The kept values, lent by the decoder while it reads the event.
        var kept = DecoderKept()
        /// The payload, and the texts that were read as JSON, which views borrow.
        private let payload: JSONDocument
        private var documents: [ExactText: JSONDocument?] = [:]

        init(
            _ payload: JSONDocument,
            _ attributes: Attributes,
            isLink: Bool,
            _ absences: DecoderAbsences,
            isTraced: Bool
        ) {
            self.payload = payload
            (self.attributes, self.absences, self.isTraced) = (attributes, absences, isTraced)
            isOutgoing = attributes["dir"] == "out"
            link = isLink ? attributes["link"] ?? "" : nil
        }

        /// Where a value stands in the payload; `nil` for one that was made, or is within a text that was read as JSON.
        func place(of found: DecoderFound) -> Range<Int>? {
            guard case .view(let view) = found, view.isPart(of: payload) else { return nil }
            return view.range
        }

        /// The path and the query of the request.
        private var target: [Substring] {
            (attributes["path"] ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        }

        private static func query(_ text: Substring) -> [ExactText: String] {
            var query: [ExactText: String] = [:]
            for pair in text.split(separator: "&") {
                let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    .map { DecoderScope.decoded(Substring($0.replacing("+", with: " "))) }
                // The last one counts where a name stands twice.
                query[ExactText(halves[0])] = halves.count > 1 ? halves[1] : ""
            }
            return query
        }

        /// The JSON of a text; `nil` if it is none. Each text is parsed once.
        func parsed(_ text: String) -> JSONView? {
            let text = ExactText(text)
            if let known = documents[text] { return known?.root }
            let document = try? JSONDocument(copying: text.string.utf8)
            documents[text] = .some(document)
            return document?.root
        }

        /// Whether an element of a loop may read a value from outside of it: a small one, and not too many of them.
        func takes(_ value: DecoderFound) -> Bool {
            guard let count = value.writtenCount else { return value.isNull }
            outerBytes += count
            return count <= outerTextBytesMax && outerBytes <= Self.outerBytesMax
        }
    }

    // MARK: - Members

    /// A member whose value is read by `read`, which gives `nil` for another type.
    func stated<Value>(
        _ value: DecoderValue?,
        keepsEmpty: Bool = false,
        _ read: (DecoderFound) -> Value?
    ) -> Stated<Value> {
        guard let value else { return .unstated }
        guard let found = self.value(value) else { return absences.isMissing ? .none : .unstated }
        if found.isNull { return absences.isNull ? .none : .fault }
        if absences.isEmptyText, !keepsEmpty, found.isText("") { return .none }
        if absences.isZero, found.isZero { return .none }
        return read(found).map { .value($0) } ?? .fault
    }

    /// A member that is a text; a number and a truth value are the text that they are written as.
    func text(_ value: DecoderValue?, keepsEmpty: Bool = false) -> Stated<String> {
        stated(value, keepsEmpty: keepsEmpty) { $0.writtenText }
    }

    /// A member that is a time.
    func time(_ value: DecoderValue?) -> Stated<Timestamp> {
        let form = value.flatMap(Self.timeForm)
        return stated(value) { form?.instant($0) ?? (form == nil ? DecoderTimeForm.guessed($0) : nil) }
    }

    static func timeForm(_ value: DecoderValue) -> DecoderTimeForm? {
        switch value {
        case .time(_, let form): form
        case .when(let inner, _, _): timeForm(inner)
        case .first(let values): values.lazy.compactMap(timeForm).first
        default: nil
        }
    }
}
