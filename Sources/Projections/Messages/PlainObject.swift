#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The members that a packed message keeps verbatim, to be written in canonical form (RFC 8785) without making values
/// of them. Borrows the object's bytes.
///
/// Serves objects of 1 to 16 members that are texts of printable ASCII without escapes, whole numbers of at most 15
/// digits, truth values or null, and these are nearly all. Such values are their own canonical form, so only the
/// members' order and the white space between them change. `PackedRest` reads the others.
struct PlainObject {
    /// Few enough for a place on the stack and a sort by insertion.
    private static let countMax = 16

    /// The ranges of a member in the object, ends excluded; the name's range includes its quotes.
    fileprivate struct Member: BitwiseCopyable {
        var name: (start: Int, end: Int)
        var value: (start: Int, end: Int)
    }

    private let object: UnsafeRawBufferPointer
    /// Sorted by their names. Temporary memory of `with`, valid only during its closure.
    private let members: UnsafeBufferPointer<Member>

    /// Lends the members of an object; `nil` for an object that is not served, such as one with a member twice.
    static func with<Result>(_ object: UnsafeRawBufferPointer, _ body: (PlainObject?) -> Result) -> Result {
        // `Member` is trivial, so the reader may assign into the uninitialized room and nothing needs to be destroyed.
        // Only the first `count` members, which the reader has written, are read.
        withUnsafeTemporaryAllocation(of: Member.self, capacity: countMax) { room in
            var reader = PlainObjectReader(object)
            guard let count = reader.members(room), sort(room, count, in: object) else { return body(nil) }
            return body(PlainObject(object: object, members: UnsafeBufferPointer(rebasing: room[..<count])))
        }
    }

    /// Sorts the first members by name, by insertion; false if two have the same.
    private static func sort(
        _ members: UnsafeMutableBufferPointer<Member>,
        _ count: Int,
        in object: UnsafeRawBufferPointer
    ) -> Bool {
        for place in 0..<count {
            var other = place
            while other > 0 {
                // RFC 8785 sorts names by their UTF-16 units; names of ASCII sort the same by their bytes.
                let order = compare(members[other - 1], members[other], in: object)
                if order == 0 { return false }
                if order < 0 { break }
                members.swapAt(other - 1, other)
                other -= 1
            }
        }
        return true
    }

    /// Writes what `PackedRest.extra` of the object contains, behind a prefix; false, without writing, if that is
    /// nothing.
    func writeExtra(behind prefix: StaticString, to writer: inout CanonicalWriter) -> Bool {
        var hasBegun = false
        for member in members { write(member, behind: prefix, &hasBegun, to: &writer) }
        if hasBegun { writer.raw("}") }
        return hasBegun
    }

    /// Writes the same with the members in the order of the object.
    func writeExtraInOrder(to writer: inout CanonicalWriter) -> Bool {
        var hasBegun = false
        var last = -1
        // So few members that a look at all for each one is cheaper than a second list.
        while true {
            var next: Member?
            for member in members where member.name.start > last && member.name.start < next?.name.start ?? .max {
                next = member
            }
            guard let next else { break }
            write(next, behind: "", &hasBegun, to: &writer)
            last = next.name.start
        }
        if hasBegun { writer.raw("}") }
        return hasBegun
    }

    /// Writes a member of `extra` behind a comma, the first one behind the prefix and a brace. Null members count as
    /// absent there.
    @inline(__always)
    private func write(
        _ member: Member,
        behind prefix: StaticString,
        _ hasBegun: inout Bool,
        to writer: inout CanonicalWriter
    ) {
        // No other served value begins with this letter.
        let isNull = object[member.value.start] == UInt8(ascii: "n")
        if isNull || isAttachments(member) { return }
        if hasBegun {
            writer.raw(",")
        } else {
            writer.raw(prefix)
            writer.raw("{")
        }
        hasBegun = true
        writer.raw(UnsafeRawBufferPointer(rebasing: object[member.name.start..<member.name.end]))
        writer.raw(":")
        writer.raw(UnsafeRawBufferPointer(rebasing: object[member.value.start..<member.value.end]))
    }

    /// Attachments that are no list count as absent.
    private func isAttachments(_ member: Member) -> Bool {
        object[member.name.start + 1..<member.name.end - 1].elementsEqual(PackedRest.attachmentsName.utf8)
    }

    /// Less than, equal to or greater than 0 as the first name sorts before, like or after the second.
    private static func compare(_ left: Member, _ right: Member, in object: UnsafeRawBufferPointer) -> Int {
        // Without the closing quote, which would sort before other characters. Both ranges lie in the object, as the
        // reader has walked over them.
        let counts = (left.name.end - left.name.start - 1, right.name.end - right.name.start - 1)
        guard let start = object.baseAddress else { return 0 }
        let order = memcmp(start + left.name.start, start + right.name.start, min(counts.0, counts.1))
        return order != 0 ? Int(order) : counts.0 - counts.1
    }
}

extension PackedRest {
    /// Whether an object may have the member of the attachments; false proves that it has none.
    static func mayHaveAttachments(_ object: UnsafeRawBufferPointer) -> Bool {
        guard let start = object.baseAddress, !object.isEmpty else { return false }
        // An escape may hide the name.
        if memchr(start, Int32(UInt8(ascii: "\\")), object.count) != nil { return true }
        let name: StaticString = "\"attachments\""
        var index = 0
        while object.count - index >= name.utf8CodeUnitCount {
            if memcmp(start + index, name.utf8Start, name.utf8CodeUnitCount) == 0 { return true }
            guard let quote = memchr(start + index + 1, Int32(UInt8(ascii: "\"")), object.count - index - 1) else {
                return false
            }
            index = quote - UnsafeMutableRawPointer(mutating: start)
        }
        return false
    }
}

/// Reads an object as `PlainObject` serves it, strictly: accepts only valid JSON.
private struct PlainObjectReader {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Reads the whole object into `room`. Returns how many members there are; `nil` if the object is unfit, has more
    /// members than fit, or is followed by other bytes.
    mutating func members(_ room: UnsafeMutableBufferPointer<PlainObject.Member>) -> Int? {
        var count = 0
        guard take(UInt8(ascii: "{")) else { return nil }
        while true {
            guard count < room.count, let name = string(), take(UInt8(ascii: ":")), let value = value() else {
                return nil
            }
            room[count] = PlainObject.Member(name: name, value: value)
            count += 1
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { return nil }
            skipSpace()
            return index == bytes.count ? count : nil
        }
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    /// The range of a text with its quotes.
    private mutating func string() -> (start: Int, end: Int)? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = index - 1
        while index < bytes.count, (0x20...0x7E).contains(bytes[index]), bytes[index] != UInt8(ascii: "\\") {
            index += 1
            if bytes[index - 1] == UInt8(ascii: "\"") { return (start, index) }
        }
        return nil
    }

    private mutating func value() -> (start: Int, end: Int)? {
        skipSpace()
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func word(_ word: StaticString) -> (start: Int, end: Int)? {
        let (start, end) = (index, index + word.utf8CodeUnitCount)
        guard end <= bytes.count, let base = bytes.baseAddress,
            memcmp(base + start, word.utf8Start, word.utf8CodeUnitCount) == 0
        else { return nil }
        index = end
        return (start, end)
    }

    /// A whole number of at most 15 digits, which is its own canonical form. A fraction or an exponent ends it here,
    /// and the object fails at the next separator.
    private mutating func number() -> (start: Int, end: Int)? {
        let start = index
        if bytes[index] == UInt8(ascii: "-") { index += 1 }
        let digits = index
        while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
        guard (1...15).contains(index - digits) else { return nil }
        // A zero in front is no JSON, and `-0` is written `0`; a zero alone is fine.
        if bytes[digits] == UInt8(ascii: "0"), index - digits > 1 || digits > start { return nil }
        return (start, index)
    }
}
