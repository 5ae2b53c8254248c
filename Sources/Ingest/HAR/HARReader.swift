import JSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a part of a HAR cannot be read.
struct HARFault: Error, Hashable {
    let reason: String
    /// The entry and message, such as `entry 13, message 4`; empty for the file.
    private(set) var place = ""

    init(_ reason: String) {
        self.reason = reason
    }

    /// A copy with its place.
    func at(entry: Int, message: Int? = nil) -> HARFault {
        var fault = self
        fault.place = "entry \(entry)" + (message.map { ", message \($0)" } ?? "")
        return fault
    }

    /// A fault of JSON in a part that begins at `start`; people count bytes from 1.
    fileprivate init(_ fault: JSONError, behind start: Int) {
        reason = "it is no JSON: \(fault.reason) (byte \(start + fault.offset + 1))"
    }
}

/// Reads values of a HAR in place. Ranges count from the file's first byte; only the values that a caller reads are
/// decoded and copied. The bytes must outlive the reader: `HARDocument.read` lends it for one closure.
struct HARReader {
    /// The document, and behind it the files that are attached to it.
    let bytes: UnsafeBufferPointer<UInt8>
    /// The number of bytes of the document alone.
    let documentCount: Int
    /// The range of each attached file, by its name.
    var attachments: [String: Range<Int>] = [:]

    /// The deepest nesting of the document around its entries.
    private static let depthMax = 64
    /// The longest number that is read, in bytes; a longer one counts as no number.
    private static let numberBytesMax = 64

    /// The index at which the array `log.entries` begins. A byte order mark before the document is passed over (RFC
    /// 8259, section 8.1, allows that).
    ///
    /// - Throws: a fault if the document is no JSON up to there, has no such list, or is nested too deep.
    func entriesStart() throws(HARFault) -> Int {
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var reader = JSONReader(
            UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[mark..<documentCount]),
            levelsMax: Self.depthMax,
            allowsAnyBytes: true
        )
        do throws(JSONError) {
            guard try find("log", &reader), try find("entries", &reader), try reader.kind() == .array else {
                throw JSONError(offset: 0, reason: "there is no list log.entries")
            }
            return mark + reader.offset
        } catch {
            throw HARFault("it is no HAR: \(error.reason) (byte \(mark + error.offset + 1))")
        }
    }

    /// Enters an object and reads up to the value of a member; false if it is no object, or none such is in it.
    private func find(_ name: StaticString, _ reader: inout JSONReader) throws(JSONError) -> Bool {
        guard try reader.kind() == .object else { return false }
        try reader.enterObject()
        while let member = try reader.nextMember() {
            if member == name { return true }
            try reader.skip()
        }
        return false
    }

    /// The elements of an array. An attached file may have one element a line instead.
    func elements(of range: Range<Int>) -> HARElements {
        let text = part(range)
        if range.lowerBound >= documentCount, text.first != 0x5B {
            return HARElements(lines: text, start: range.lowerBound)
        }
        return HARElements(text, start: range.lowerBound, isPart: false)
    }

    /// The elements of an array that begins at `start` and whose end is not known yet. A file that is cut off gives its
    /// whole elements, and then a fault.
    func elements(from start: Int) -> HARElements {
        HARElements(part(start..<documentCount), start: start, isPart: true)
    }

    /// The values of some members of an object, in the order of `names`; `nil` for those that are missing or null. The
    /// last of several members with one name counts. Cost: one pass over the object.
    func members(of range: Range<Int>, _ names: [StaticString]) throws(HARFault) -> [Range<Int>?] {
        var found = [Range<Int>?](repeating: nil, count: names.count)
        let text = part(range)
        var members = JSONMembers(text)
        guard members.isObject == true else { throw HARFault("an object is expected, and something else stands there") }
        do throws(JSONError) {
            while let member = try members.next() {
                for (index, name) in names.enumerated() where text.holds(name, at: member.name) {
                    // No other JSON value begins with `n`.
                    let isNull = text[member.value.lowerBound] == 0x6E
                    let start = range.lowerBound + member.value.lowerBound
                    assert(start + member.value.count <= range.upperBound, "a member's value lies within its object")
                    found[index] = isNull ? nil : start..<start + member.value.count
                }
            }
        } catch {
            throw HARFault(error, behind: range.lowerBound)
        }
        return found
    }

    /// The bytes of a range, with indices from 0.
    private func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[range])
    }
}

/// The elements of an array, or the lines of an attached file, one after another.
struct HARElements {
    private var members: JSONMembers
    /// The lines that are not taken yet; `nil` for an array.
    private var lines: Slice<UnsafeBufferPointer<UInt8>>?
    /// Where the array begins in the file.
    private let start: Int

    fileprivate init(_ text: UnsafeBufferPointer<UInt8>, start: Int, isPart: Bool) {
        members = JSONMembers(text, isPart: isPart)
        self.start = start
    }

    fileprivate init(lines text: UnsafeBufferPointer<UInt8>, start: Int) {
        self.init(text, start: start, isPart: true)
        lines = text[...]
    }

    /// The range of the next element in the file; `nil` at the end.
    mutating func next() throws(HARFault) -> Range<Int>? {
        if let rest = lines?.drop(while: { $0 == 0x0A || $0 == 0x0D }) {
            let line = rest.prefix { $0 != 0x0A }
            lines = rest[line.endIndex...]
            return line.isEmpty ? nil : start + line.startIndex..<start + line.endIndex
        }
        guard members.isObject == false else { throw HARFault("a list is expected, and something else stands there") }
        do throws(JSONError) {
            guard let value = try members.next()?.value else { return nil }
            return start + value.lowerBound..<start + value.upperBound
        } catch {
            throw HARFault(error, behind: start)
        }
    }
}

// MARK: - Values

extension HARReader {
    /// A string's bytes, with its escapes decoded.
    ///
    /// A lone code unit from U+DC80 to U+DCFF becomes the byte that Python could not decode (PEP 383): mitmproxy writes
    /// text that is not UTF-8 in this form.
    func text(_ range: Range<Int>) throws(HARFault) -> [UInt8] {
        let value = part(range)
        var reader = JSONReader(UnsafeRawBufferPointer(value))
        do throws(JSONError) {
            let text = try reader.string()
            try reader.finish()
            guard text.hasEscapes else { return Array(text.bytes) }
            return try decode(text.bytes.assumingMemoryBound(to: UInt8.self))
        } catch {
            throw HARFault(error, behind: range.lowerBound)
        }
    }

    /// Decodes the escapes of a string. `JSONEscape.decode` is no choice, because it refuses every lone code unit.
    private func decode(_ raw: UnsafeBufferPointer<UInt8>) throws(JSONError) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            let end = raw[index...].firstIndex(of: 0x5C) ?? raw.count
            decoded.append(contentsOf: raw[index..<end])
            guard end < raw.count else { break }
            if let escape = JSONEscape.scalar(raw, at: end) {
                decoded.append(contentsOf: UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter)
                index = end + escape.length
            } else if let unit = JSONEscape.codeUnit(raw, at: end), (0xDC80...0xDCFF).contains(unit) {
                decoded.append(UInt8(truncatingIfNeeded: unit))
                index = end + 6
            } else {
                throw JSONError(offset: end, reason: "an escape is half a surrogate pair, which stands for no bytes")
            }
        }
        return decoded
    }

    /// A string as a `String`, for people and comparisons; bytes that are not UTF-8 become replacement characters.
    func string(_ range: Range<Int>) throws(HARFault) -> String {
        String(decoding: try text(range), as: UTF8.self)
    }

    /// The bytes that a base64 string encodes.
    func base64(_ range: Range<Int>) throws(HARFault) -> [UInt8] {
        guard let data = Data(base64Encoded: Data(try text(range))) else {
            throw HARFault("a text is not base64 (RFC 4648, section 4)")
        }
        return Array(data)
    }

    /// A number; `nil` for any other value.
    func number(_ range: Range<Int>) -> Double? {
        guard range.count <= Self.numberBytesMax else { return nil }
        var reader = JSONReader(UnsafeRawBufferPointer(part(range)))
        guard (try? reader.number()) != nil else { return nil }
        return Double(String(decoding: bytes[range], as: UTF8.self))
    }
}
