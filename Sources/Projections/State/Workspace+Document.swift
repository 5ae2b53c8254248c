public import EventLog

/// Options for a state document.
public struct DocumentOptions: Sendable {
    /// The instant for typing, staleness and everything else that time alone changes; the state's clock if `nil`.
    public var asOf: Timestamp?
    /// The arrays to include; all if `nil`.
    public var sections: Set<Section>?
    /// The profile whose reading the state follows.
    public var profile: Profile = .canonical
    /// The name of a reading that is no profile; it replaces the profile's name in the document.
    public var reading: String?

    var readingName: String { reading ?? profile.rawValue }

    /// Makes options for the whole document.
    public init() {}
}

extension Workspace {
    /// The state document of `replay --json`: its members in the documented order, rows sorted as documented.
    ///
    /// Cost: O(n log n) in the number of rows; the digest is brought up to date first.
    public mutating func document(_ options: DocumentOptions = DocumentOptions()) -> JSONValue {
        let asOf = options.asOf ?? clock ?? Timestamp(seconds: 0)
        var document: JSONObject = [
            "format": .string("eventlog.state/1"),
            "sequence": .string(sequence.description),
            "asOf": .string(asOf.description),
            "profile": .string(options.readingName),
            "digest": .string(digest().hex),
        ]
        for section in Section.allCases where options.sections?.contains(section) ?? true {
            document[section.rawValue] = .array(rows(in: section, asOf: asOf))
        }
        return .object(document)
    }

    /// The rows of one section, sorted as the document sorts them.
    public func rows(in section: Section, asOf: Timestamp) -> [JSONValue] {
        if section == .issues { return issueRows() }
        return sources.sorted { $0.name < $1.name }.flatMap { $0.rows(in: section, asOf: asOf) }
    }

    private func issueRows() -> [JSONValue] {
        issues.map { source, issue in
            .object([
                "sequence": .string(issue.sequence.description),
                "source": .string(source.rawValue),
                "reason": .string(issue.reason),
                "count": issue.count == 1 ? nil : .int(issue.count),
            ])
        }
    }
}

extension SourceState {
    func rows(in section: Section, asOf: Timestamp) -> [JSONValue] {
        guard let fold = fold(for: section) else { return [] }
        let rowContext = rowContext(asOf: asOf)
        return fold.keys(in: section, names: context.names).compactMap { key in
            fold.row(for: key, context: rowContext).map(withSource)
        }
    }

    /// The context for making rows of this source; without an instant, `asOf` is the start of 1970 (UTC).
    func rowContext(asOf: Timestamp?) -> RowContext {
        RowContext(names: context.names, asOf: asOf ?? Timestamp(seconds: 0), rules: rowRules)
    }

    /// Puts the source in front of a row's own members.
    func withSource(_ row: JSONValue) -> JSONValue {
        guard let own = row.object else { return row }
        var object: JSONObject = ["source": .string(name.rawValue)]
        for member in own.members { object[member.name] = member.value }
        return .object(object)
    }
}
