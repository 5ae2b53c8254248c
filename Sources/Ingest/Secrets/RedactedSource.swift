public import EventLog

/// A source whose events leave out what the user declared secret (`RedactionRules`).
public struct RedactedSource<Source: EventSource>: EventSource {
    /// The events of one run.
    public struct Drafts: DraftSequence {
        fileprivate var inner: Source.Drafts
        fileprivate let rules: RedactionRules

        /// The next event, redacted, or a piece of input that was passed over.
        public mutating func next() throws -> SourceItem? {
            guard let item = try inner.next() else { return nil }
            guard case .draft(let draft, let bookmark) = item else { return item }
            return .draft(try rules.redacted(draft), bookmark: bookmark)
        }
    }

    /// The recorder's name in the log.
    public var name: SourceName { inner.name }
    private let inner: Source
    private let rules: RedactionRules

    /// Makes a source of another one.
    public init(_ inner: Source, rules: RedactionRules) {
        (self.inner, self.rules) = (inner, rules)
    }

    /// Begins to read as the other source does.
    public func drafts(after history: RecordedHistory) throws -> Drafts {
        Drafts(inner: try inner.drafts(after: history), rules: rules)
    }
}
