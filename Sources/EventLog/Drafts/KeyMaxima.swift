#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The greatest key of each source, by two orders of byte strings. No event holds a key above either of them (I4).
///
/// This needs no promise of the source: both orders are total, so the greatest held key is no less than any other.
/// Numbers with a fixed width grow in the order of bytes, numbers without one in the order of length, then bytes. The
/// maxima cover no keys of dropped events; those are in the table `keys`.
struct KeyMaxima {
    /// The greatest keys of one source; empty before the first key, so that every key is above them.
    private struct Greatest {
        let source: [UInt8]
        var byBytes: [UInt8] = []
        var byLength: [UInt8] = []
    }

    /// Bounds what is stored with every run. Sources beyond this number have no maximum, and their keys are always
    /// looked up.
    static let sourceCountMax = 1024
    /// In the order in which the sources came. `places` has the index of each by the bytes of its name.
    private var greatest: [Greatest] = []
    private var places: [[UInt8]: Int] = [:]
    /// By the lane's object. Lanes are interned, one object each, and live as long as the log is open.
    private var placesOfLanes: [ObjectIdentifier: Int] = [:]
    /// The lane of the last look-up, which is mostly that of the next one.
    private var last: (lane: ObjectIdentifier, place: Int)?

    init() {}

    /// Whether a key is above all noted keys of its source in one of the two orders. False proves nothing: the key must
    /// be looked up.
    mutating func isAboveAll(_ key: UnsafeRawBufferPointer, in lane: Lane) -> Bool {
        guard let place = place(of: lane) else { return false }
        return greatest[place].byBytes.withUnsafeBytes { Self.isAbove(key, byBytes: $0) }
            || greatest[place].byLength.withUnsafeBytes { Self.isAbove(key, byLength: $0) }
    }

    /// Whether each of the keys is above all noted keys of its source. Compares the first one alone, by length: the
    /// others are above it.
    mutating func areAboveAll(_ keys: KeyAscent, in lane: Lane) -> Bool {
        guard let place = place(of: lane) else { return false }
        return greatest[place].byLength.withUnsafeBytes { Self.isAbove(keys.first, byLength: $0) }
    }

    /// Notes the keys of new events of the lane.
    mutating func note(_ keys: KeyAscent, in lane: Lane) {
        note(keys.last, in: lane)
        note(keys.greatestByBytes, in: lane)
    }

    /// Notes the key of an event of the lane.
    mutating func note(_ key: UnsafeRawBufferPointer, in lane: Lane) {
        guard let place = place(of: lane) else { return }
        if greatest[place].byBytes.withUnsafeBytes({ Self.isAbove(key, byBytes: $0) }) {
            Self.replace(&greatest[place].byBytes, with: key)
        }
        if greatest[place].byLength.withUnsafeBytes({ Self.isAbove(key, byLength: $0) }) {
            Self.replace(&greatest[place].byLength, with: key)
        }
    }

    /// The place of the lane's source in `greatest`, added if there is room; `nil` if there is none.
    @inline(__always)
    private mutating func place(of lane: Lane) -> Int? {
        let id = ObjectIdentifier(lane)
        if let last, last.lane == id { return last.place }
        guard let place = placesOfLanes[id] ?? addPlace(of: lane) else { return nil }
        last = (id, place)
        return place
    }

    @inline(never)
    private mutating func addPlace(of lane: Lane) -> Int? {
        let source = Array(lane.source.rawValue.utf8)
        if let place = places[source] {
            placesOfLanes[ObjectIdentifier(lane)] = place
            return place
        }
        guard greatest.count < Self.sourceCountMax else { return nil }
        places[source] = greatest.count
        placesOfLanes[ObjectIdentifier(lane)] = greatest.count
        greatest.append(Greatest(source: source))
        return greatest.count - 1
    }

    /// Overwrites the bytes in place if the length fits, because a rising number replaces its predecessor with every
    /// event.
    private static func replace(_ bytes: inout [UInt8], with key: UnsafeRawBufferPointer) {
        guard bytes.count == key.count else { return bytes = Array(key) }
        bytes.withUnsafeMutableBytes { $0.copyMemory(from: key) }
    }

    static func isAbove(_ key: UnsafeRawBufferPointer, byBytes other: UnsafeRawBufferPointer) -> Bool {
        order(other, key) < 0
    }

    static func isAbove(_ key: UnsafeRawBufferPointer, byLength other: UnsafeRawBufferPointer) -> Bool {
        key.count != other.count ? key.count > other.count : order(other, key) < 0
    }

    /// Below zero if `first` comes before `second`, byte by byte; a prefix comes first.
    private static func order(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard let start = first.baseAddress, let other = second.baseAddress else { return first.count - second.count }
        let order = memcmp(start, other, min(first.count, second.count))
        return order != 0 ? Int(order) : first.count - second.count
    }
}

// MARK: - Stored with the runs of keys

extension KeyMaxima {
    /// `u16 count ‖ (str source ‖ str key by bytes ‖ str key by length) …`
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt16(clamping: greatest.count))
        for entry in greatest {
            for part in [entry.source, entry.byBytes, entry.byLength] {
                writer.write(UInt16(clamping: part.count))
                writer.write(part)
            }
        }
        return writer.bytes
    }

    /// Reads the value that `bytes` wrote; `nil` if it is malformed.
    init?(_ bytes: [UInt8]) {
        let entries: [Greatest]? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let count = reader.number(UInt16.self) else { return nil }
            var entries: [Greatest] = []
            for _ in 0..<count {
                guard let source = Self.part(&reader), let byBytes = Self.part(&reader),
                    let byLength = Self.part(&reader)
                else { return nil }
                entries.append(Greatest(source: source, byBytes: byBytes, byLength: byLength))
            }
            return entries
        }
        guard let entries else { return nil }
        greatest = entries
        for (place, entry) in entries.enumerated() { places[entry.source] = place }
    }

    private static func part(_ reader: inout ByteReader) -> [UInt8]? {
        guard let count = reader.number(UInt16.self), let raw = reader.raw(Int(count)) else { return nil }
        return Array(raw)
    }
}
