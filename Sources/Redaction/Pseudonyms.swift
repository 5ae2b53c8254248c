import EventLog
import JSON

/// Gives people and their names pseudonyms that nothing else in a log has: `forgotten-1`, of an id of digits
/// `900000000000001`, of a UUID `f0000000-0000-4000-8000-000000000001`.
///
/// The numbers are counted. A pseudonym that followed from the id, by a hash or otherwise, would let anybody who has a list of ids
/// find out whose it is.
struct Pseudonyms {
    /// The number of the next person.
    private var next: Int
    /// How many names each number has.
    private var nameCounts: [Int: Int] = [:]

    private static let (word, digits, uuid) = ("forgotten-", "9000000000", "f0000000-0000-4000-8000-")
    /// Added to the number of a person with an id of digits: 15 digits, which every program reads exactly.
    private static let firstNumber = 900_000_000_000_000

    /// Begins behind the greatest number that stands in any event: one that was given before, or that somebody wrote.
    ///
    /// - Throws: `EventLogError`.
    init(after session: borrowing ReadSession) throws {
        var last = 0
        let search = TokenSearch([Self.word, Self.digits, Self.uuid])
        if session.head > .zero {
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                event.withPayload { payload in
                    if search.occurs(in: payload) { last = max(last, Self.greatest(in: payload)) }
                }
                return true
            }
        }
        next = last + 1
    }

    /// The greatest number of a pseudonym in a payload; 0 without one.
    private static func greatest(in payload: UnsafeRawBufferPointer) -> Int {
        let bytes = Array(payload)
        var greatest = 0
        for (opening, offset, most) in [(word, 0, 9), (digits, 0, 5), (uuid, 0, 12)] {
            let opening = Array(opening.utf8)
            var start = 0
            while let place = bytes[start...].firstRange(of: opening) {
                let number = bytes[place.upperBound...].prefix(most).prefix { (0x30...0x39).contains($0) }
                greatest = max(greatest, offset + (Int(String(decoding: number, as: UTF8.self)) ?? 0))
                start = place.upperBound
            }
        }
        return greatest
    }

    /// The number of another person.
    mutating func person() -> Int {
        defer { next += 1 }
        return next
    }

    /// The pseudonym of a person's id, of the same form.
    static func id(_ id: String, of person: Int) -> String {
        if isNumber(id) { return String(firstNumber + person) }
        guard isUUID(id) else { return word + String(person) }
        let text = String(person)
        return uuid + String(repeating: "0", count: max(12 - text.utf8.count, 0)) + text
    }

    /// The pseudonym of another name of a person. Names that differ stay different.
    mutating func name(of person: Int, besides ids: Set<String>) -> String {
        while true {
            let count = nameCounts[person, default: 0] + 1
            nameCounts[person] = count
            let name = Self.word + String(person) + (count == 1 ? "" : " (\(count))")
            if !ids.contains(name) { return name }
        }
    }

    /// Whether an id is written as a JSON number may be.
    static func isNumber(_ id: String) -> Bool {
        let digits = id.utf8
        return !digits.isEmpty && digits.count <= 20 && digits.allSatisfy { (0x30...0x39).contains($0) }
            && (digits.first != 0x30 || digits.count == 1)
    }

    private static func isUUID(_ id: String) -> Bool {
        let bytes = Array(id.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : JSONText.hexDigit(byte) != nil
        }
    }
}
