import EventLog
import Projections

/// Appends changes of members to a joined log, and notes where each comes from.
struct JoinWriter {
    private let store: EventStore
    private let places: JoinPlaces
    /// What the joined log is made of, up to what was added.
    var record: JoinRecord
    private var head: UInt64
    private var drafts: [DraftEvent] = []
    private var origins: [Origin] = []
    private var bytes = 0

    private struct Origin {
        let member: Int
        let sequence: UInt64
        let isRedacted: Bool
    }

    /// Bounds one write transaction.
    private static let countMax = 8192
    private static let bytesMax = 16 << 20

    init(_ store: EventStore, _ places: JoinPlaces, _ record: JoinRecord) {
        (self.store, self.places, self.record, head) = (store, places, record, record.head)
    }

    /// Puts a decoder file in force.
    mutating func act(_ file: DecoderFile?, for source: SourceName, at time: Timestamp) throws {
        head = try Decoders.set(file, for: source, in: store, at: time).rawValue
        try places.write([.none], behind: head - 1)
    }

    /// Takes the next change of a member. Returns whether some became durable.
    mutating func add(_ change: JoinCursor.Change, of member: Int, _ name: String) throws -> Bool {
        drafts.append(change.draft)
        origins.append(Origin(member: member, sequence: change.sequence, isRedacted: change.isRedacted))
        bytes += change.draft.payload.count
        if change.isRedacted { record.parts[member].redacted += 1 }
        record.last = (change.clock, name)
        guard drafts.count >= Self.countMax || bytes >= Self.bytesMax else { return false }
        try commit()
        return true
    }

    /// Notes that a member is joined up to its head.
    mutating func reach(_ member: JoinMember, at place: Int) {
        let part = record.parts[place]
        record.parts[place] = JoinRecord.Part(
            name: part.name,
            identity: part.identity,
            generation: part.generation,
            head: member.head.rawValue,
            root: member.root,
            duplicates: part.duplicates,
            redacted: part.redacted
        )
    }

    /// Appends the rest, and the record, which makes the joined log whole.
    mutating func finish() throws {
        try commit()
        record.head = head
        let source = try SourceName(JoinRecord.source.description)
        _ = try store.append(DraftBatch(), bookmark: Bookmark(source: source, bytes: record.bytes))
        JoinFolder.seal(record, of: store)
    }

    private mutating func commit() throws {
        try append(0..<drafts.count)
        (drafts, origins, bytes) = ([], [], 0)
    }

    /// Appends a range of the drafts: all at once, or, where the store refuses a key, in halves, so that it is found which.
    private mutating func append(_ range: Range<Int>) throws {
        if range.isEmpty { return }
        do {
            let result = try store.append(Array(drafts[range]))
            try take(result, of: range)
        } catch let error as EventLogError where error.code == .keyConflict {
            guard range.count == 1 else {
                let middle = range.lowerBound + range.count / 2
                try append(range.lowerBound..<middle)
                return try append(middle..<range.upperBound)
            }
            let origin = origins[range.lowerBound]
            // As in one log, the key of a redacted event decides alone (I4).
            let isHeldRedacted = error.sequence.flatMap { places.place(of: $0) }?.isRedacted ?? false
            guard origin.isRedacted || isHeldRedacted else {
                throw conflict(at: range.lowerBound, with: error.sequence)
            }
            record.parts[origin.member].duplicates += 1
        }
    }

    private mutating func take(_ result: AppendResult, of range: Range<Int>) throws {
        var new: [JoinPlaces.Place] = []
        for (sequence, origin) in zip(result.sequences, origins[range]) {
            // New events get the sequences behind the head, one after another.
            if sequence.rawValue == head + UInt64(new.count) + 1 {
                new.append(
                    JoinPlaces.Place(
                        member: UInt32(origin.member),
                        sequence: origin.sequence,
                        isRedacted: origin.isRedacted
                    )
                )
            } else {
                record.parts[origin.member].duplicates += 1
            }
        }
        try places.write(new, behind: head)
        head += UInt64(new.count)
    }

    private func conflict(at place: Int, with sequence: SequenceNumber?) -> EngineError {
        let (draft, origin) = (drafts[place], origins[place])
        let other = sequence.flatMap { places.place(of: $0) }
        let first =
            other.map { "event \($0.sequence) of \"\(record.parts[Int($0.member)].name)\"" } ?? "an event before it"
        return EngineError(
            "join \"\(record.parts[origin.member].name)\": event \(origin.sequence) has key \"\(draft.key?.rawValue ?? "")\" of source "
                + "\"\(draft.source)\", which \(first) has with another payload, so these are two sources with one name; leave one of the logs out"
        )
    }
}
