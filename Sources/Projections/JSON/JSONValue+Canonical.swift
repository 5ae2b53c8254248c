import EventLog
// Who imports this module gets `JSONValue` too, in which its rows are given.
@_exported public import JSON

extension JSONValue {
    /// The canonical text (RFC 8785): no white space, members sorted by UTF-16 code units, numbers as ECMAScript writes
    /// them.
    ///
    /// Departs from the RFC in one way: a number keeps all its digits where the RFC would round it to the nearest
    /// `Double`, so that different numbers never get the same text. A whole number written without fraction and exponent
    /// stays as it is; `docs/semantics.md`, "Digest", has the form of all others.
    public var canonicalBytes: [UInt8] {
        withCanonicalBytes { Array($0) }
    }

    /// The canonical text.
    public var canonicalText: String {
        withCanonicalBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The hash of the canonical text.
    var canonicalHash: Hash256 {
        withCanonicalBytes { Hasher256.hash($0) }
    }

    /// The value that `write` writes as canonical JSON; `null` if that is none.
    static func written(_ write: (inout CanonicalWriter) -> Void) -> JSONValue {
        var writer = CanonicalWriter()
        write(&writer)
        return writer.withBytes { try? JSONValue.parse($0) } ?? .null
    }

    private func withCanonicalBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var writer = CanonicalWriter()
        writer.value(self)
        return writer.withBytes(body)
    }

    /// The order in which the members of objects are written, at every level.
    package enum MemberOrder {
        /// By UTF-16 code units.
        case canonical
        /// The object's own order.
        case own
    }

    /// Appends the text, canonical except for the order of members.
    package func append(to bytes: inout [UInt8], members order: MemberOrder) {
        var writer = CanonicalWriter()
        writer.value(self, members: order)
        writer.withBytes {
            Steps.count($0.count)
            bytes.append(contentsOf: $0)
        }
    }
}

extension CanonicalWriter {
    /// Writes a value. Recursive: values that were parsed have at most `JSONReader.depthMax` levels.
    mutating func value(_ value: JSONValue, members order: JSONValue.MemberOrder = .canonical) {
        switch value {
        case .null: raw("null")
        case .bool(true): raw("true")
        case .bool(false): raw("false")
        case .number(let number): raw(number.canonicalText)
        case .string(let text): string(text)
        case .array(let elements):
            raw("[")
            var isFirst = true
            for element in elements {
                if !isFirst { raw(",") }
                isFirst = false
                self.value(element, members: order)
            }
            raw("]")
        case .object(let object): self.object(object, members: order)
        }
    }

    /// Rows are mostly made in canonical order, so looking for it first spares the sorting.
    private mutating func object(_ object: JSONObject, members order: JSONValue.MemberOrder) {
        raw("{")
        let members = object.members
        if order == .own || Self.isSorted(members) {
            for place in members.indices { member(members[place], isFirst: place == 0, members: order) }
        } else {
            let places = members.indices.sorted { Self.precedes(members[$0].name, members[$1].name) }
            for (index, place) in places.enumerated() { member(members[place], isFirst: index == 0, members: order) }
        }
        raw("}")
    }

    /// Writes an array whose elements `write` writes.
    mutating func array<Element>(
        _ elements: some Sequence<Element>,
        _ write: (Element, inout CanonicalWriter) -> Void
    ) {
        var isFirst = true
        raw("[")
        for element in elements {
            if !isFirst { raw(",") }
            isFirst = false
            write(element, &self)
        }
        raw("]")
    }

    /// Writes an object in canonical order. For each member, `write` may write its value and return true, in place of the
    /// value in the object: so no value need be made of what is large.
    mutating func object(
        _ object: JSONObject,
        _ write: (_ name: String, inout CanonicalWriter) -> Bool
    ) {
        var start: StaticString = "{"
        for member in object.members.sorted(by: { Self.precedes($0.name, $1.name) }) {
            raw(start)
            start = ","
            string(member.name)
            raw(":")
            if !write(member.name, &self) { value(member.value) }
        }
        raw(object.members.isEmpty ? "{}" : "}")
    }

    private mutating func member(_ member: JSONObject.Member, isFirst: Bool, members order: JSONValue.MemberOrder) {
        if !isFirst { raw(",") }
        string(member.name)
        raw(":")
        value(member.value, members: order)
    }

    private static func isSorted(_ members: [JSONObject.Member]) -> Bool {
        members.indices.dropFirst().allSatisfy { precedes(members[$0 - 1].name, members[$0].name) }
    }

    /// Whether one name sorts before another by UTF-16 code units.
    static func precedes(_ left: String, _ right: String) -> Bool {
        var (here, there) = (left, right)
        return here.withUTF8 { here in
            there.withUTF8 { there in order(UnsafeRawBufferPointer(here), UnsafeRawBufferPointer(there)) < 0 }
        }
    }

    /// Less than, equal to or greater than 0 as the first text sorts before, like or after the second by UTF-16 code
    /// units. Both are UTF-8, whose bytes sort differently only if one text has a scalar beyond U+FFFF where the other
    /// has one from U+E000 on.
    static func order(_ here: UnsafeRawBufferPointer, _ there: UnsafeRawBufferPointer) -> Int {
        for index in 0..<min(here.count, there.count) where here[index] != there[index] {
            // 0xEE is the first byte of U+E000. If both bytes are from there on, UTF-16 must decide.
            if here[index] < 0xEE || there[index] < 0xEE { return here[index] < there[index] ? -1 : 1 }
            let (left, right) = (String(decoding: here, as: UTF8.self), String(decoding: there, as: UTF8.self))
            return left.utf16.lexicographicallyPrecedes(right.utf16) ? -1 : 1
        }
        return here.count - there.count
    }

    /// Writes a text with quotes.
    mutating func string(_ text: String) {
        raw("\"")
        content(of: text)
        raw("\"")
    }

    /// Writes a text, given as well-formed UTF-8, with quotes.
    mutating func string(utf8 text: UnsafeRawBufferPointer) {
        raw("\"")
        content(of: text)
        raw("\"")
    }

    /// Writes a text without quotes, with the escapes that RFC 8785 (section 3.2.2.2) requires: the short forms, else
    /// `\u00xx` in lower case.
    mutating func content(of text: String) {
        var text = text
        text.withUTF8 { content(of: UnsafeRawBufferPointer($0)) }
    }

    private mutating func content(of utf8: UnsafeRawBufferPointer) {
        var start = 0
        while start < utf8.count {
            let end = utf8.escaped(from: start)
            raw(UnsafeRawBufferPointer(rebasing: utf8[start..<end]))
            if end < utf8.count { escape(of: utf8[end]) }
            start = end + 1
        }
    }
}

extension JSONNumber {
    /// The number as ECMAScript's Number::toString writes it (ECMA-262, 6.1.6.1.20), if that is the number that was
    /// written; else with all its digits. Whole numbers are written in full.
    public var canonicalText: String {
        // ECMAScript writes negative zero without its sign.
        if text == "-0" { return "0" }
        if isWhole { return text }
        // An exponent beyond all reason keeps the number as it is.
        guard let written = DecimalNumber(text) else { return text }
        if written.isZero { return "0" }
        // Correctly rounded parsing and shortest printing are the same on every machine (I10).
        guard let value = Double(text), value.isFinite, value != 0 else { return written.text }
        let (digits, exponent) = Self.shortest(value.magnitude)
        guard exponent == written.exponent, digits == written.digits else { return written.text }
        return Self.ecmaScript(digits, exponent, isNegative: written.isNegative)
    }

    /// Whether the number is written without fraction and exponent.
    var isWhole: Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) } }

    /// The text of a finite number other than 0, by the cases of Number::toString: digits and zeros up to 10^21, a
    /// point within or before the digits down to 10^-6, else an exponent.
    static func ecmaScript(_ value: Double) -> String {
        let (digits, exponent) = shortest(value.magnitude)
        return ecmaScript(digits, exponent, isNegative: value < 0)
    }

    private static func ecmaScript(_ digits: [UInt8], _ exponent: Int, isNegative: Bool) -> String {
        DecimalNumber.text(digits, exponent, isNegative: isNegative, isWritten: (1...21).contains(exponent))
    }

    /// The shortest digits that read back as the value; the decimal point comes after the first `exponent` of them.
    /// Taken from `Double.description`, which gives the shortest digits, as ECMAScript requires; only the notation
    /// differs.
    private static func shortest(_ value: Double) -> (digits: [UInt8], exponent: Int) {
        let number = DecimalNumber(value.description)
        assert(number != nil, "the description of a finite number is a decimal number")
        return (number?.digits ?? [], number?.exponent ?? 0)
    }
}
