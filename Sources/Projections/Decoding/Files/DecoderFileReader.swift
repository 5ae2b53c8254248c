import EventLog
import Kinds

/// Reads the nodes of a decoder file.
struct DecoderFileReader {
    struct Parts {
        var name = ""
        var app: BuiltInApp?
        var envelope: DecoderEnvelope?
        var absences = DecoderAbsences()
        var dedupe: DecoderDedupe?
        var order = DecoderOrder.id
        var rules: [DecoderStep] = []
        var observed: [DecoderObserved] = []
        var samples: [DecoderSample] = []
    }

    /// Steps within steps.
    static let depthMax = 6
    /// The steps, tests and values of a file together: each is evaluated at most once for each element of a payload.
    private static let partsMax = 4096

    /// How many keys of events count as seen, and the most that a file may ask for.
    private static let keysMax = 1_000_000

    var shapes: [String: [String: DecoderValue]] = [:]
    /// The lists of steps that rules and later lists name, and how many parts each has, those of lists in it included.
    var named: [String: (steps: [DecoderStep], partCount: Int)] = [:]
    var partCount = 0
    /// Whether an effect states a message by an `own`, and the line of one that finds messages by theirs; `nil` if none does.
    var owns: (isStated: Bool, finderLine: Int?) = (false, nil)
    /// The names of kept values: those that steps keep, and those that are read, with their lines.
    var keptNames: (kept: Set<String>, used: [(name: String, line: Int)]) = ([], [])

    mutating func file(_ root: YAMLNode) throws(DecoderFileError) -> Parts {
        let members = try DecoderMembers(root, of: "the file")
        try members.allow([
            "decoder", "app", "extends", "none", "dedupe", "order", "shapes", "steps", "rules", "observed", "samples",
        ])
        var parts = Parts()
        parts.name = try members.text("decoder")
        guard parts.name.wholeMatch(of: /[A-Za-z0-9._-]{1,48}\/[0-9]{1,6}/) != nil else {
            throw DecoderFileError(members.line("decoder"), "decoder is a name and a version, as slack/1")
        }
        let app = try members.word("app", of: BuiltInApp.allCases.map(\.rawValue))
        if let app {
            parts.app = BuiltInApp(rawValue: app)
            // The app is built in, so the file has no rules and no samples.
            try members.allow(["decoder", "app"])
            return parts
        }
        let extended = try members.word("extends", of: DecoderEnvelope.allCases.map(\.rawValue))
        parts.envelope = extended.flatMap { DecoderEnvelope(rawValue: $0) }
        if let none = members["none"] { parts.absences = try absences(none) }
        let order = try members.word("order", of: DecoderOrder.allCases.map(\.rawValue))
        parts.order = order.flatMap { DecoderOrder(rawValue: $0) } ?? .id
        if let dedupe = members["dedupe"] { parts.dedupe = try self.dedupe(dedupe) }
        for shape in try members.members("shapes") ?? [] {
            shapes[shape.name] = try values(shape.value, of: "shape \(shape.name)")
        }
        for list in try members.members("steps") ?? [] {
            guard let elements = list.value.elements, !elements.isEmpty else {
                throw DecoderFileError(list.line, "steps holds lists of steps by their names")
            }
            let before = partCount
            var steps: [DecoderStep] = []
            for element in elements { steps.append(try step(element, depth: 2, isRule: false)) }
            named[list.name] = (steps, partCount - before)
        }
        guard let rules = members["rules"]?.elements, !rules.isEmpty else {
            throw DecoderFileError(members.line("rules"), "rules is a list of at least one rule")
        }
        for rule in rules { parts.rules.append(try step(rule, depth: 1, isRule: true)) }
        for rule in members["observed"]?.elements ?? [] { parts.observed.append(try observed(rule)) }
        if members["observed"] != nil, parts.observed.isEmpty {
            throw DecoderFileError(members.line("observed"), "observed is a list of at least one rule")
        }
        if let unknown = keptNames.used.first(where: { !keptNames.kept.contains($0.name) }) {
            throw DecoderFileError(
                unknown.line,
                "no step keeps \"\(unknown.name)\": write keep: {\(unknown.name): VALUE}"
            )
        }
        if let line = owns.finderLine, !owns.isStated {
            throw DecoderFileError(
                line,
                "an edit, and a reaction with own, finds a message by the own that states it: give own to a make or replace"
            )
        }
        guard let samples = members["samples"]?.elements, !samples.isEmpty else {
            throw DecoderFileError(
                members.line("samples"),
                "samples is a list of at least one payload with the changes that it must give"
            )
        }
        for sample in samples { parts.samples.append(try self.sample(sample)) }
        return parts
    }

    /// Counts a part of the file, all of which together are limited.
    mutating func count(_ line: Int) throws(DecoderFileError) {
        partCount += 1
        if partCount > Self.partsMax {
            throw DecoderFileError(line, "the file has more than \(Self.partsMax) steps, tests and values")
        }
    }

    private func absences(_ node: YAMLNode) throws(DecoderFileError) -> DecoderAbsences {
        var absences = DecoderAbsences(isMissing: false, isNull: false, isEmptyText: false, isZero: false)
        for element in node.elements ?? [node] {
            switch element.value {
            case .absent: absences.isNull = true
            case .text("missing", true): absences.isMissing = true
            case .text("", _): absences.isEmptyText = true
            case .text("0", true): absences.isZero = true
            default:
                throw DecoderFileError(element.line, "none lists how no value is written: missing, null, \"\" or 0")
            }
        }
        return absences
    }

    private mutating func dedupe(_ node: YAMLNode) throws(DecoderFileError) -> DecoderDedupe {
        let members = try DecoderMembers(node, of: "dedupe")
        try members.allow(["key", "keep", "grows", "begins", "of", "when"])
        let when = try members["when"].map { node throws(DecoderFileError) in try tests(node) } ?? DecoderTests.any
        switch (members["key"], members["grows"]) {
        case (let key?, nil):
            let count = members["keep"].map { $0.text.flatMap { Int($0) } ?? 0 } ?? DecoderSeenKeys.countDefault
            guard (1...Self.keysMax).contains(count) else {
                throw DecoderFileError(members.line("keep"), "keep is how many keys count, from 1 to \(Self.keysMax)")
            }
            return DecoderDedupe(rule: .key(try value(key), keeping: count), when: when)
        case (nil, let number?):
            guard let begins = members["begins"] else {
                throw DecoderFileError(node.line, "dedupe with grows needs begins: the event that begins a session")
            }
            let session = try members["of"].map { node throws(DecoderFileError) in try value(node) }
            return DecoderDedupe(
                rule: .grows(try value(number), begins: try tests(begins), of: session),
                when: when
            )
        default: throw DecoderFileError(node.line, "dedupe has either key or grows")
        }
    }

    private func sample(_ node: YAMLNode) throws(DecoderFileError) -> DecoderSample {
        let members = try DecoderMembers(node, of: "a sample")
        try members.allow(["kind", "attributes", "payload", "gives"])
        var pairs: [Attributes.Pair] = []
        for member in try members.members("attributes") ?? [] {
            guard let text = member.value.text else {
                throw DecoderFileError(member.line, "the attribute \(member.name) is no text")
            }
            pairs.append(Attributes.Pair(name: member.name, value: text))
        }
        let kindText = members["kind"]?.text ?? KnownKind.socketFrame.rawValue
        guard let attributes = try? Attributes(pairs), let kind = try? EventKind(kindText) else {
            throw DecoderFileError(node.line, "the attributes or the kind of the sample are too long")
        }
        guard let gives = (try? JSONValue.parse(try members.text("gives")))?.array else {
            throw DecoderFileError(members.line("gives"), "gives is a JSON list of changes, as a text: '[…]'")
        }
        let payload = try members.text("payload")
        return DecoderSample(line: node.line, kind: kind, attributes: attributes, payload: payload, gives: gives)
    }
}
