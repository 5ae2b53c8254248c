public import EventLog
import JSON
import Projections

/// Where texts still are in a log, in any form: as they are, with JSON escapes, in percent encoding, base64, hexadecimal digits
/// and UTF-16.
public struct RedactionScan: Sendable {
    /// A part of an event that holds a text.
    public struct Hit: Sendable {
        /// The event.
        public let sequence: SequenceNumber
        /// `payload`, `key`, `source`, or `attribute NAME`.
        public let part: String
    }

    /// How many events were searched.
    public private(set) var eventCount = 0
    /// The parts of events that hold a text, in the order of the log.
    public private(set) var hits: [Hit] = []
    /// How many files of the log were searched.
    public private(set) var fileCount = 0
    /// The bytes of these files.
    public private(set) var byteCount = 0
    /// How often a text stands in the files.
    public private(set) var fileHitCount = 0

    /// How many texts were not looked for, because they have one byte.
    public let unsearchedCount: Int

    /// Searches the newest generation: each event, then the files byte for byte.
    ///
    /// - Throws: `EventLogError` if the log cannot be read; an error of the file system.
    init(_ store: EventStore, _ substitutes: TextSubstitutes) throws {
        let search = substitutes.search
        unsearchedCount = substitutes.tinyCount
        try store.read { session in
            guard session.head > .zero else { return }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                eventCount += 1
                let envelope = event.envelope
                func look(_ part: String, _ text: String) {
                    if search.occurs(in: text) { hits.append(Hit(sequence: envelope.sequence, part: part)) }
                }
                if event.withPayload({ search.occurs(in: $0) }) {
                    hits.append(Hit(sequence: envelope.sequence, part: "payload"))
                }
                if let key = envelope.key { look("key", key.rawValue) }
                look("source", envelope.source.rawValue)
                for pair in envelope.attributes.pairs { look("attribute \(pair.name)", pair.value) }
                return true
            }
        }
        let files = FileSearch { piece, first in
            // A place may come twice, and what begins behind the chunk belongs to the next one.
            Set(search.places(in: piece).map(\.lowerBound)).count { $0 < first }
        }
        (fileCount, byteCount, fileHitCount) = try files.all(in: store.path)
    }
}
