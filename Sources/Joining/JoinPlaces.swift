import EventLog

/// Where each event of a joined log comes from: a file with twelve bytes for each, the member's place in `JoinRecord.parts` and its own sequence there,
/// both big-endian. The
/// first bit tells that the event is redacted there. Acts of the joined log itself come from nowhere.
struct JoinPlaces {
    /// Where one event comes from.
    struct Place {
        let member: UInt32
        let sequence: UInt64
        var isRedacted = false

        /// The place of an act of the joined log.
        static let none = Place(member: .max, sequence: 0)

        fileprivate static let redactedBit: UInt32 = 1 << 31
    }

    private static let byteCount = 12

    private let file: OpenFile
    private let path: String

    init(_ file: OpenFile, path: String) { (self.file, self.path) = (file, path) }

    /// How many events have a place.
    var count: UInt64 { file.byteCount / UInt64(Self.byteCount) }

    /// Adds the places of the events behind `head`.
    func write(_ places: [Place], behind head: UInt64) throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(places.count * Self.byteCount)
        for place in places {
            let member = place.isRedacted ? place.member | Place.redactedBit : place.member
            withUnsafeBytes(of: member.bigEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: place.sequence.bigEndian) { bytes.append(contentsOf: $0) }
        }
        try file.write(bytes, at: head * UInt64(Self.byteCount), path)
    }

    /// The place of an event; `nil` for an act, and for an event that the file lacks.
    func place(of sequence: SequenceNumber) -> Place? {
        guard sequence > .zero else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        let offset = (sequence.rawValue - 1).multipliedReportingOverflow(by: UInt64(Self.byteCount))
        guard !offset.overflow else { return nil }
        let count = bytes.withUnsafeMutableBytes { file.read($0, at: offset.partialValue) }
        guard count == bytes.count else { return nil }
        let member = bytes[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if member == Place.none.member { return nil }
        return Place(
            member: member & ~Place.redactedBit,
            sequence: bytes[4...].reduce(0) { $0 << 8 | UInt64($1) },
            isRedacted: member & Place.redactedBit != 0
        )
    }
}
