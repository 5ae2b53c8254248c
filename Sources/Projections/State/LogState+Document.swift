public import EventLog

/// Options for a state document. They decide what is printed, not how events are read.
public struct DocumentOptions: Sendable {
    /// The instant for typing, staleness and everything else that time alone changes; the state's clock if `nil`.
    public var asOf: Timestamp?
    /// The arrays to include; all if `nil`.
    public var sections: Set<Section>?
    /// The name of the reading that the state follows, which the document gives as its `profile`.
    public var reading = "canonical"

    /// Makes options for the whole document.
    public init() {}
}

extension LogState: DocumentState {
    package static var sections: [Section] { Section.allCases }

    /// The state document of `replay --json`: its members in the documented order, rows sorted as documented. Holds all
    /// rows in memory; `writeLines` does not.
    ///
    /// Cost: O(n log n) in the number of rows; the digest is brought up to date first.
    public mutating func document(_ options: DocumentOptions = DocumentOptions()) -> JSONValue {
        documentValue(options)
    }

    /// The members of the document that are no rows, the digest among them.
    package mutating func documentHeader(_ options: DocumentOptions) -> JSONObject {
        [
            "format": .string("eventlog.state/1"),
            "sequence": .string(sequence.description),
            "asOf": .string(asOf(options).description),
            "profile": .string(options.reading),
            "decoders": decoders.document,
            "digest": .string(digest().hex),
        ]
    }

    /// The rows of one section, sorted as the document sorts them.
    public func rows(in section: Section, asOf: Timestamp) -> [JSONValue] {
        var rows: [JSONValue] = []
        forEachRow(in: section, asOf: asOf) { rows.append($0) }
        return rows
    }

    /// Calls `body` with the rows of one section one after another, sorted as the document sorts them: by source, then
    /// in the fold's order; issues by sequence. Except for issues, no list of rows is held in memory.
    package func forEachRow(in section: Section, asOf: Timestamp, _ body: (JSONValue) throws -> Void) rethrows {
        if section == .issues { return try issueRows().forEach(body) }
        for source in sources.sorted(by: { $0.name < $1.name }) {
            try source.forEachRow(in: section, asOf: asOf) { try body(source.withSource($1)) }
        }
    }

    /// How many rows a section of the document has; typing counts as of the state's clock.
    func rowCount(in section: Section) -> Int {
        switch section {
        case .messages: return sources.reduce(0) { $0 + $1.parts.messages.count(being: .live) }
        case .deletedMessages: return sources.reduce(0) { $0 + $1.parts.messages.count(being: .deleted) }
        case .issues: return sources.reduce(0) { $0 + $1.issues.rows.count }
        default:
            var count = 0
            forEachRow(in: section, asOf: clock ?? Timestamp(seconds: 0)) { _ in count += 1 }
            return count
        }
    }

    /// A `count` of one is left out, so that logs that were never compacted print none.
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
        var rows: [JSONValue] = []
        forEachRow(in: section, asOf: asOf) { rows.append(withSource($1)) }
        return rows
    }

    /// Calls `body` with the key and the own members of each row of a section, in the document's order.
    func forEachRow(
        in section: Section,
        asOf: Timestamp,
        _ body: (EntityKey, JSONValue) throws -> Void
    ) rethrows {
        guard let fold = fold(for: section) else { return }
        let rowContext = rowContext(asOf: asOf)
        for key in fold.keys(in: section, names: context.names) {
            if let row = fold.row(for: key, context: rowContext) { try body(key, row) }
        }
    }

    /// The context for making rows of this source; without an instant, `asOf` is the start of 1970 (UTC).
    func rowContext(asOf: Timestamp?) -> RowContext {
        RowContext(
            names: context.names,
            asOf: asOf ?? Timestamp(seconds: 0),
            rules: rowRules,
            tip: parts.commits.tipEvent
        )
    }

    /// Puts the source in front of a row's own members. A row that is no object stays as it is.
    func withSource(_ row: JSONValue) -> JSONValue {
        guard let own = row.object else { return row }
        var members: [JSONObject.Member] = []
        members.reserveCapacity(own.members.count + 1)
        members.append(JSONObject.Member(name: "source", value: .string(name.rawValue)))
        members += own.members
        assert(own["source"] == nil, "no fold gives its rows a member of this name")
        return .object(JSONObject(distinct: members))
    }
}
