public import EventLog

/// Several logs as one: an ordinary log, to be read and not written to, that knows where each of its events comes from.
public struct JoinedLog: Sendable {
    /// One of the logs.
    public struct Member: Sendable {
        /// The name that orders it among the others: its name in the folder, or its path as it was given.
        public let name: String
        /// The sixteen bytes that identify it.
        public let identity: [UInt8]
        /// Its last event that was joined.
        public let head: SequenceNumber
        /// The root over its events up to there.
        public let root: Hash256
        /// How many of its changes were left out, because a log before it in the order has them.
        public let duplicates: UInt64
        /// How many of its changes are redacted; the joined log has their substitutes.
        public let redacted: UInt64
    }

    /// The events of all members, in their order, behind an act for each decoder file.
    public let store: EventStore
    /// The logs, by name.
    public let members: [Member]
    /// The members' names, in the order that `places` counts by.
    private let names: [String]
    private let places: JoinPlaces

    init(store: EventStore, record: JoinRecord, places: JoinPlaces) {
        (self.store, self.places, names) = (store, places, record.parts.map(\.name))
        members = record.parts.map {
            Member(
                name: $0.name,
                identity: $0.identity,
                head: SequenceNumber($0.head),
                root: $0.root,
                duplicates: $0.duplicates,
                redacted: $0.redacted
            )
        }
        .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Where an event of the joined log comes from.
    public struct Origin: Hashable, Sendable {
        /// The log's name.
        public let log: String
        /// The event's sequence there.
        public let sequence: SequenceNumber
        /// Whether it is redacted there.
        public let isRedacted: Bool
    }

    /// Where an event of the joined log comes from; `nil` for an act of the joined log. Cost: one read of a file.
    public func origin(of sequence: SequenceNumber) -> Origin? {
        guard let place = places.place(of: sequence), place.member < names.count else { return nil }
        return Origin(
            log: names[Int(place.member)],
            sequence: SequenceNumber(place.sequence),
            isRedacted: place.isRedacted
        )
    }
}
