public import EventLog
import JSON
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
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

    /// Bytes of a file that are searched at once, and how far a text may reach beyond them.
    private static let chunkBytes = 4 << 20
    private static let overlapBytes = 1 << 20

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
        // The others hold the version and locks. Whoever closes a file of locks releases all that the process has in it.
        let names = try FileManager.default.subpathsOfDirectory(atPath: store.path).sorted()
        for name in names where !["FORMAT", ".lock", "lock.mdb"].contains(where: name.hasSuffix) {
            try look(in: store.path + "/" + name, search)
        }
    }

    /// Searches a regular file in pieces. No link is followed, and a file that is gone meanwhile was derived data of another
    /// process.
    private mutating func look(in path: String, _ search: TokenSearch) throws {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ELOOP { return }
            throw Self.trouble(path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.trouble(path) }
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        fileCount += 1
        var piece = [UInt8](repeating: 0, count: Self.chunkBytes + Self.overlapBytes)
        for start in stride(from: 0, to: Int(status.st_size), by: Self.chunkBytes) {
            let count = pread(descriptor, &piece, piece.count, off_t(start))
            guard count >= 0 else { throw Self.trouble(path) }
            byteCount += min(count, Self.chunkBytes)
            let places = piece[..<count].withUnsafeBytes { search.places(in: $0) }
            // A place may come twice, and what begins behind the chunk belongs to the next one.
            fileHitCount += Set(places.map(\.lowerBound)).count { $0 < Self.chunkBytes }
        }
    }

    private static func trouble(_ path: String) -> EngineError {
        EngineError("search \"\(path)\": \(String(cString: strerror(errno)))")
    }
}
