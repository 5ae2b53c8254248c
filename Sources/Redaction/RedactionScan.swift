public import EventLog
import JSON
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    /// What was found in them, in order.
    public private(set) var hits: [Hit] = []
    /// How many files of the log were searched.
    public private(set) var fileCount = 0
    /// The bytes of these files.
    public private(set) var byteCount = 0
    /// How often a text stands in the files.
    public private(set) var fileHitCount = 0

    /// Bytes of a file that are searched at once, and how far a text may reach beyond them.
    private static let chunkBytes = 4 << 20
    private static let overlapBytes = 1 << 20

    /// Searches the newest generation: each event, then the files byte for byte.
    ///
    /// - Throws: `EventLogError` if the log cannot be read; an error of the file system.
    init(_ store: EventStore, _ search: TokenSearch) throws {
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
        let files = FileManager.default
        // The other files of a log hold the version and locks.
        for name in try files.subpathsOfDirectory(atPath: store.path).sorted() where !Self.isFixed(name) {
            let path = store.path + "/" + name
            guard try files.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeRegular else {
                continue
            }
            try look(in: path, search)
        }
    }

    private static func isFixed(_ name: String) -> Bool { name == "FORMAT" || name.hasSuffix(".lock") }

    /// Files that vanish meanwhile are derived data of another process.
    private mutating func look(in path: String, _ search: TokenSearch) throws {
        let file: Data
        do {
            file = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return
        }
        fileCount += 1
        byteCount += file.count
        file.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Self.chunkBytes) {
                let end = min(bytes.count, start + Self.chunkBytes + Self.overlapBytes)
                let places = search.places(in: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                // Without escapes a place is found twice, and what begins behind the chunk belongs to the next one.
                fileHitCount += Set(places.map(\.lowerBound)).count { $0 < Self.chunkBytes }
            }
        }
    }
}
