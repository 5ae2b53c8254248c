import JSON

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The members that a packed message keeps verbatim, to be written in canonical form (RFC 8785) without making values
/// of them. Borrows the object's bytes.
///
/// Serves objects of 1 to 16 members whose names have no escapes and whose values are known to be their own canonical form
/// (`ValueText`), and these are nearly all: only the members' order and the white space between them change.
/// `PackedRest` reads the others.
struct PlainObject {
    /// Few enough for a place on the stack and a sort by insertion.
    private static let countMax = 16

    fileprivate struct Member: BitwiseCopyable {
        /// How many members stand before it in the object.
        let place: Int
        let name: JSONText
        let value: ValueText
    }

    /// Sorted by their names. Temporary memory of `with`, valid only during its closure.
    private let members: UnsafeBufferPointer<Member>

    /// Lends the members of an object; `nil` for an object that is not served, such as one with a member twice.
    static func with<Result>(_ object: UnsafeRawBufferPointer, _ body: (PlainObject?) -> Result) -> Result {
        // `Member` is trivial, so the reader may assign into the uninitialized room and nothing needs to be destroyed.
        // Only the first `count` members, which the reader has written, are read.
        withUnsafeTemporaryAllocation(of: Member.self, capacity: countMax) { room in
            guard let count = try? members(of: object, room), sort(room, count) else { return body(nil) }
            return body(PlainObject(members: UnsafeBufferPointer(rebasing: room[..<count])))
        }
    }

    /// Reads the whole object into `room`. Returns how many members there are; `nil` if the object is unfit.
    private static func members(
        of object: UnsafeRawBufferPointer,
        _ room: UnsafeMutableBufferPointer<Member>
    ) throws(JSONError) -> Int? {
        var reader = JSONReader(object)
        var count = 0
        try reader.enterObject()
        while let name = try reader.nextMember() {
            guard count < room.count, !name.hasEscapes else { return nil }
            let value = try reader.valueText()
            guard value.isCanonical else { return nil }
            room[count] = Member(place: count, name: name, value: value)
            count += 1
        }
        try reader.finish()
        return count > 0 ? count : nil
    }

    /// Sorts the first members by name, by insertion; false if two have the same.
    private static func sort(_ members: UnsafeMutableBufferPointer<Member>, _ count: Int) -> Bool {
        for place in 0..<count {
            var other = place
            while other > 0 {
                let order = CanonicalWriter.order(members[other - 1].name.bytes, members[other].name.bytes)
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
        // So few members that a look at all for each one is cheaper than a second list.
        for place in members.indices {
            guard let member = members.first(where: { $0.place == place }) else { continue }
            write(member, behind: "", &hasBegun, to: &writer)
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
        // No other value begins with this letter. Attachments that are no list count as absent, too.
        let isNull = member.value.bytes.first == UInt8(ascii: "n")
        if isNull || member.name.bytes.elementsEqual(PackedRest.attachmentsName.utf8) { return }
        if hasBegun {
            writer.raw(",")
        } else {
            writer.raw(prefix)
            writer.raw("{")
        }
        hasBegun = true
        writer.string(member.name)
        writer.raw(":")
        writer.raw(member.value.bytes)
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
