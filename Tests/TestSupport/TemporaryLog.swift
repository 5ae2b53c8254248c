public import EventLog

/// A log of a test's own, with fixed salts, so that its roots are the same in every run.
public struct TemporaryLog: Sendable {
    /// The directory that the log lies in.
    public let directory: TemporaryDirectory
    /// The log.
    public let store: EventStore

    /// Where the log is.
    public var path: String { store.path }

    /// Makes an empty log.
    public init(name: String = "test.eventlog") throws {
        let directory = try TemporaryDirectory()
        var options = EventStore.Options()
        options.salt = .fixed(7)
        store = try EventStore.openOrCreate(at: directory.path(name), options: options)
        self.directory = directory
    }

    /// Makes a log of drafts.
    public init(_ drafts: [DraftEvent]) throws {
        try self.init()
        _ = try store.append(drafts)
    }

    /// All held events in order, copied.
    public func events() throws -> [RecordedEvent] {
        try store.read { session in
            var events: [RecordedEvent] = []
            try session.forEachEvent(in: SequenceNumber(1)...SequenceNumber(max(1, session.head.rawValue))) {
                events.append($0.copied())
                return true
            }
            return events
        }
    }
}

extension DraftEvent {
    /// A draft of an event that another log has.
    public init(again event: RecordedEvent) {
        self.init(
            recordedAt: event.envelope.recordedAt,
            source: event.envelope.source,
            kind: event.envelope.kind,
            key: event.envelope.key,
            attributes: event.envelope.attributes,
            payload: event.payload
        )
    }

    /// A draft with defaults for what a test does not care for. Its time is its number in seconds.
    public static func sample(
        _ number: Int,
        source: String = "test",
        kind: String = "gateway.frame/1",
        key: String? = nil,
        attributes: Attributes = .none,
        payload: String? = nil
    ) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(seconds: Int64(number)),
            source: try SourceName(source),
            kind: try EventKind(kind),
            key: try key.map { try EventKey($0) },
            attributes: attributes,
            payload: Array((payload ?? "payload \(number)").utf8)
        )
    }
}
