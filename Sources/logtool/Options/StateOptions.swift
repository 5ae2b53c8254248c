import ArgumentParser
import Clients
import EventLog
import Projections

/// The profile whose reading of the bytes is followed.
struct ProfileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Whose reading of the bytes: canonical, or a client's.", valueName: "profile"),
        completion: Completions.profiles,
        transform: ProfileArgument.parse
    )
    var profile = Profile.canonical
}

/// Options for how a state is made and read. `StateQuery` holds the same choices without the parser.
struct StateOptions: ParsableArguments {
    @OptionGroup var reading: ProfileOptions

    @Option(
        help: ArgumentHelp("Read by these rules and no others (logtool profiles).", valueName: "rules"),
        transform: RulesArgument.parse
    )
    var rules: [ReadingRule]?

    @Option(
        help: ArgumentHelp("Judge what passes with time at this time; default: the log's clock.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var asOf: Timestamp?

    @Option(
        help: ArgumentHelp("Only these parts, such as channels,messages,items.", valueName: "parts"),
        completion: Completions.sections,
        transform: SectionArgument.parse
    )
    var only: Set<Section>?

    @Option(
        help: ArgumentHelp("What if these events had never arrived: 17,18.", valueName: "sequences"),
        transform: SequenceListArgument.parse
    )
    var without: Set<SequenceNumber> = []

    /// The result is then no state that ever was: it lacks what the compaction dropped.
    @Flag(help: "Before the last compaction: answer from the events that are left.")
    var retained = false

    @Flag(
        name: .customLong("no-snapshots"),
        help: "Fold from the first event on; neither use nor keep states beside the log."
    )
    var withoutKeptStates = false

    @Flag(
        help: "Fold from the first event on, each checked against its leaf hash and all of them against the tree."
    )
    var checked = false

    func validate() throws {
        if rules != nil, reading.profile != .canonical { throw ValidationError("give one of --profile and --rules") }
    }

    /// The query made of these options, a point and a source. Nothing is opened or checked yet.
    func query(at point: Point?, source: SourceName?) -> StateQuery {
        StateQuery(
            point: point,
            profile: reading.profile,
            rules: rules,
            asOf: asOf,
            sections: only,
            source: source,
            without: without,
            retained: retained,
            usesKeptStates: !withoutKeptStates,
            checks: checked
        )
    }
}

/// Profiles as options.
enum ProfileArgument {
    static func parse(_ text: String) throws -> Profile {
        guard let profile = Profile(rawValue: text) else {
            let known = Profile.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\"\(text)\" is no profile; there is \(known)")
        }
        return profile
    }
}

/// Reading rules as an option, separated by commas. Their order and repeats mean nothing. Names are those of the
/// enumeration's cases, so a new rule is known here at once.
enum RulesArgument {
    /// The rules by name.
    static let names: [String: ReadingRule] = Dictionary(
        uniqueKeysWithValues: ReadingRule.allCases.map { ("\($0)", $0) }
    )

    /// The rules in the order of their declaration, each once.
    static func parse(_ text: String) throws -> [ReadingRule] {
        var rules: [ReadingRule] = []
        for name in text.split(separator: ",").map(String.init) {
            guard let rule = names[name] else {
                let near = Suggestion.clause(for: name, among: names.keys.sorted())
                throw ValidationError("\"\(name)\" is no rule\(near); logtool profiles lists them")
            }
            if !rules.contains(rule) { rules.append(rule) }
        }
        return rules.sorted { $0.rawValue < $1.rawValue }
    }
}

/// Times as options. Without a zone, a time is UTC: no result depends on the machine's zone (I10).
enum TimeArgument {
    static func parse(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(written: text) else {
            throw ValidationError(
                "\"\(text)\" is no time: write 2026-01-19T08:30:00Z, '2026-01-19 08:30' or 2026-01-19"
            )
        }
        return time
    }
}

/// Source names as options. Only the limits of names are checked (I3); whether the log has the source is for
/// `KnownNames`.
enum SourceArgument {
    static func parse(_ text: String) throws -> SourceName {
        do {
            return try SourceName(text)
        } catch {
            throw ValidationError(String(describing: error))
        }
    }
}

/// Parts of the state document as an option, separated by commas.
enum SectionArgument {
    /// At least one part; unknown names are refused with the list of known ones.
    static func parse(_ text: String) throws -> Set<Section> {
        var sections: Set<Section> = []
        for name in text.split(separator: ",") {
            guard let section = Section(rawValue: String(name)) else {
                let known = Section.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("\"\(name)\" is no part of a state; there are \(known)")
            }
            sections.insert(section)
        }
        if sections.isEmpty { throw ValidationError("name at least one part, such as messages") }
        return sections
    }
}

/// Sequences as an option, separated by commas. Only digits are read: `UInt64` would take a sign, too. Empty parts,
/// zero and numbers of more than 64 bits are refused.
enum SequenceListArgument {
    static func parse(_ text: String) throws -> Set<SequenceNumber> {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(part) : nil
        }
        let sequences = numbers.compactMap { $0 }.filter { $0 > 0 }
        guard sequences.count == numbers.count else {
            throw ValidationError("\"\(text)\" is no list of sequences: write 17 or 17,18")
        }
        return Set(sequences.map { SequenceNumber($0) })
    }
}
