import JSON

/// The lanes of the last few lines that had another source, kind or attributes: most lines of an export repeat them, and
/// comparing their bytes costs less than reading them.
struct RecentLanes {
    /// The values of a line's members as they were written.
    private struct Known {
        let source: [UInt8]
        let kind: [UInt8]
        /// `nil` if the member is absent.
        let attributes: [UInt8]?
        let lane: Lane
    }

    private static let countMax = 8
    private var known: [Known] = []
    /// The place of the lane that was found last, and of the next one to be forgotten.
    private var (last, next) = (0, 0)

    /// The lane of a line; `nil` if no recent line had the same.
    mutating func lane(of line: ExportLine) -> Lane? {
        guard let (source, kind, attributes) = Self.parts(of: line) else { return nil }
        func isSame(_ known: Known) -> Bool {
            known.source.isSame(source) && known.kind.isSame(kind)
                && Self.isSame(known.attributes, attributes)
        }
        if last < known.count, isSame(known[last]) { return known[last].lane }
        guard let place = known.firstIndex(where: isSame) else { return nil }
        last = place
        return known[place].lane
    }

    /// Remembers the lane of a line.
    mutating func add(_ lane: Lane, of line: ExportLine) -> Lane {
        guard let (source, kind, attributes) = Self.parts(of: line) else { return lane }
        let new = Known(
            source: Array(source),
            kind: Array(kind),
            attributes: attributes.map { Array($0) },
            lane: lane
        )
        if known.count < Self.countMax { known.append(new) } else { known[next] = new }
        // The places are filled in turn, so `next` is also that of the lane that was appended.
        last = next
        next = (next + 1) % Self.countMax
        return lane
    }

    private static func isSame(_ known: [UInt8]?, _ bytes: UnsafeRawBufferPointer?) -> Bool {
        guard let known, let bytes else { return known == nil && bytes == nil }
        return known.isSame(bytes)
    }

    /// The bytes of the three members; `nil` if one of them has another type than an event's.
    private static func parts(
        of line: ExportLine
    ) -> (source: UnsafeRawBufferPointer, kind: UnsafeRawBufferPointer, attributes: UnsafeRawBufferPointer?)? {
        guard let source = line[.source], let kind = line[.kind] else { return nil }
        let attributes = line.kind(of: .attributes)
        guard attributes == nil || attributes == .object else { return nil }
        return (source.bytes, kind.bytes, line.writtenBytes(of: .attributes))
    }
}

extension [UInt8] {
    fileprivate func isSame(_ bytes: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes { $0.isSame(bytes) }
    }
}
