import JSON
import Synchronization

/// The substitutes that acts name: one pass over their payloads finds all of them, however many events are redacted.
struct SubstituteNames {
    /// A substitute of an event, by its hash.
    struct Name: Hashable {
        let sequence: UInt64
        let hash: Hash256
    }

    /// By substitute: the last act added that names it.
    private var acts: [Name: UInt64] = [:]

    func act(naming name: Name) -> UInt64? { acts[name] }

    /// Adds all names in an act's payload, which is not parsed: `docs/format.md` prescribes the very text of a name, as
    /// `RewritePlan.name(ofSubstitute:for:)` makes it.
    mutating func add(_ payload: UnsafeRawBufferPointer, of act: UInt64) {
        let bytes = payload.bindMemory(to: UInt8.self)
        var place = 0
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "\""), let (name, end) = Self.name(in: bytes, at: place) else {
                place += 1
                continue
            }
            acts[name] = act
            // The closing quote cannot begin another name, since a colon or comma never follows it there.
            place = end
        }
    }

    /// The name that begins at a place, and the place behind it; `nil` if none does.
    private static func name(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> (name: Name, end: Int)? {
        var place = start
        guard pass("\"sequence\":\"", in: bytes, &place), let sequence = number(in: bytes, &place),
            pass("\",\"substituteHash\":\"", in: bytes, &place), let hash = hash(in: bytes, &place),
            pass("\"", in: bytes, &place)
        else { return nil }
        return (Name(sequence: sequence, hash: hash), place)
    }

    private static func pass(
        _ text: StaticString,
        in bytes: UnsafeBufferPointer<UInt8>,
        _ place: inout Int
    ) -> Bool {
        let end = place + text.utf8CodeUnitCount
        guard end <= bytes.count, bytes.holds(text, at: place..<end) else { return false }
        place = end
        return true
    }

    /// A number as `String(sequence)` writes it: at most 20 digits, without a leading zero.
    private static func number(in bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> UInt64? {
        let digits = bytes[place...].prefix(21).prefix { (0x30...0x39).contains($0) }
        guard let first = digits.first, first != 0x30 || digits.count == 1 else { return nil }
        place += digits.count
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    /// A hash in 64 lower-case hex digits.
    private static func hash(in bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Hash256? {
        guard bytes.count - place >= 64 else { return nil }
        let digits = bytes[place..<place + 64]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
        place += 64
        return Hash256(spelled: String(decoding: digits, as: UTF8.self))
    }
}

/// The names in the acts of a generation's rewrites, found on demand. Any thread may use it.
final class KnownSubstitutes: Sendable {
    private let found = Mutex<(acts: [UInt64], names: SubstituteNames)?>(nil)

    /// The last of some acts that names a substitute. Calls `read` for their names, unless it did so for these acts
    /// before: a rewrite lists its own act only at its end.
    func act(
        naming name: SubstituteNames.Name,
        among acts: [UInt64],
        _ read: ([UInt64]) throws -> SubstituteNames
    ) throws -> UInt64? {
        try found.withLock { found in
            if found?.acts != acts { found = (acts, try read(acts)) }
            return found?.names.act(naming: name)
        }
    }
}

extension LogReader {
    /// The last of the rewrites' acts that names the substitute of a redacted event; `nil` if none does. The first call
    /// of a process reads all these acts.
    func act(naming record: Record, at sequence: UInt64) throws -> UInt64? {
        try act(naming: SubstituteNames.Name(sequence: sequence, hash: Hasher256.hash(Array(record.payload))))
    }

    /// The last of the rewrites' acts that names a substitute; `nil` if none does.
    func act(naming name: SubstituteNames.Name) throws -> UInt64? {
        try substitutes.act(naming: name, among: try acts()) { try names(in: $0) }
    }

    private func names(in acts: [UInt64]) throws -> SubstituteNames {
        var names = SubstituteNames()
        for act in acts {
            _ = try withRecord(at: act) { found in
                if try lane(found.laneNumber).isAct { names.add(found.payload, of: act) }
            }
        }
        return names
    }
}
