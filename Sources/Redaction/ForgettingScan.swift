import EventLog
import JSON
import Projections

/// The search for a forgotten person after the switch, in every event, every file of the log and the archives beside it, and its
/// finds.
///
/// Texts of 8 bytes and more, and names and ids of 6 and more, are looked for in every form. Shorter names and ids are looked for as
/// whole words in events. Shorter texts are not: anybody may say "ok". No event states one as the person's: that was proved before
/// the switch.
public struct ForgettingScan: Sendable {
    /// An archive that has something.
    public struct ArchiveHits: Sendable {
        /// Where it is.
        public let path: String
        /// How often.
        public let count: Int
    }

    /// How many events were searched.
    public private(set) var eventCount = 0
    /// How many of them lie in compressed blocks of the log, in which a search of the files' bytes finds nothing.
    public private(set) var sealedCount = 0
    /// How many files of the log were searched, and the bytes of these.
    public private(set) var fileCount = 0
    /// The bytes of the files.
    public private(set) var byteCount = 0
    /// How many blocks of archives were decompressed and searched.
    public private(set) var blockCount = 0
    /// The decompressed bytes.
    public private(set) var blockByteCount = 0
    /// The forms that were searched, in words.
    public let forms = TokenSearch.formNames
    /// How many texts, names and ids were looked for.
    public private(set) var searchedCount = 0
    /// How many were not, because they are short.
    public private(set) var unsearchedCount = 0
    /// How many were not looked for in files, because others say the same.
    public private(set) var sharedCount = 0
    /// The parts of events that hold one, in the order of the log, without those that others' texts account for.
    public private(set) var hits: [RedactionScan.Hit] = []
    /// How many events hold one in others' texts.
    public private(set) var otherCount = 0
    /// How often one stands in the files.
    public private(set) var fileHitCount = 0
    /// The archives that have one.
    public private(set) var archiveHits: [ArchiveHits] = []

    /// How often one stands in the archives.
    public var archiveHitCount: Int { archiveHits.reduce(0) { $0 + $1.count } }

    /// Names and ids of so many bytes are looked for in every form.
    private static let nameBytes = 6

    /// Searches the newest generation and the archives.
    ///
    /// - Throws: `EventLogError` if the log or an archive cannot be read; an error of the file system.
    init(_ store: EventStore, _ substitutes: TextSubstitutes, _ done: RedactionResult, archives: [String]) throws {
        var (all, own, words): ([Int], [Int], [Int]) = ([], [], [])
        for number in substitutes.texts.indices {
            let count = substitutes.texts[number].utf8.count
            let role = substitutes.roles[number]
            if count >= (role.isOfPerson ? Self.nameBytes : TextForms.longBytes) {
                all.append(number)
                if done.otherTexts.contains(number) { sharedCount += 1 } else { own.append(number) }
            } else if role == .name, count > 1 {
                words.append(number)
            } else {
                unsearchedCount += 1
            }
        }
        searchedCount = all.count + words.count
        try look(in: store, Needles(all, words, substitutes), done.otherEvents)
        let needles = Needles(own, [], substitutes)
        let files = FileSearch { piece, first in needles.count(in: piece, first: first) }
        (fileCount, byteCount, fileHitCount) = try files.all(in: store.path)
        // What the person wrote in dropped messages nobody knows any more; names and ids are beside it.
        let archived = Needles(all, words, substitutes)
        let blocks = FileSearch { piece, first in archived.count(in: piece, first: first) }
        for path in archives {
            guard let found = try blocks.compressed(at: path) else { continue }
            (blockCount, blockByteCount) = (blockCount + found.blocks, blockByteCount + found.bytes)
            if found.hits > 0 { archiveHits.append(ArchiveHits(path: path, count: found.hits)) }
        }
    }

    private mutating func look(in store: EventStore, _ needles: Needles, _ others: Set<SequenceNumber>) throws {
        try store.read { session in
            guard session.head > .zero else { return }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                eventCount += 1
                if event.isSealed { sealedCount += 1 }
                let envelope = event.envelope
                func look(_ part: String, _ isFound: Bool) {
                    if isFound { hits.append(RedactionScan.Hit(sequence: envelope.sequence, part: part)) }
                }
                if event.withPayload({ needles.occur(in: $0) }) {
                    if others.contains(envelope.sequence) {
                        otherCount += 1
                    } else {
                        look("payload", true)
                    }
                }
                if let key = envelope.key { look("key", needles.occur(in: key.rawValue)) }
                look("source", needles.occur(in: envelope.source.rawValue))
                for pair in envelope.attributes.pairs { look("attribute \(pair.name)", needles.occur(in: pair.value)) }
                return true
            }
        }
    }
}

/// Searches for texts in every form, and for names and ids as whole words where they stand as they are.
private struct Needles {
    private let search: TokenSearch
    private let words: TokenSearch
    private let hasWords: Bool
    /// Names and ids, as bytes.
    private let names: Set<[UInt8]>

    init(_ texts: [Int], _ words: [Int], _ substitutes: TextSubstitutes) {
        search = TokenSearch(texts.map { substitutes.texts[$0] })
        self.words = TokenSearch(words.map { substitutes.texts[$0] })
        hasWords = !words.isEmpty
        names = Set(
            (texts + words).filter { substitutes.roles[$0].isOfPerson }.map { Array(substitutes.texts[$0].utf8) }
        )
    }

    func occur(in bytes: UnsafeRawBufferPointer) -> Bool {
        if search.occurs(in: bytes), search.places(in: bytes).contains(where: { isFound($0, in: bytes) }) {
            return true
        }
        guard hasWords else { return false }
        return words.plainPlaces(in: bytes).contains { names.contains(Array(bytes[$0])) && isFound($0, in: bytes) }
    }

    func occur(in text: String) -> Bool {
        var text = text
        return text.withUTF8 { occur(in: UnsafeRawBufferPointer($0)) }
    }

    /// How many places begin among the first bytes. A place may come twice.
    func count(in bytes: UnsafeRawBufferPointer, first: Int) -> Int {
        let named = hasWords ? words.plainPlaces(in: bytes).filter { names.contains(Array(bytes[$0])) } : []
        let places = search.places(in: bytes) + named
        return Set(places.filter { $0.lowerBound < first && isFound($0, in: bytes) }.map(\.lowerBound)).count
    }

    /// Whether a place is no part of another word, if a name stands there as it is.
    private func isFound(_ place: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard names.contains(Array(bytes[place])) else { return true }
        let around = max(place.lowerBound - 1, 0)..<min(place.upperBound + 1, bytes.count)
        let shifted = place.lowerBound - around.lowerBound
        return TextForms.isWord(shifted..<shifted + place.count, in: Array(bytes[around]))
    }
}
