/// Reads the tokens of one JSON text (RFC 8259) from left to right, each checked to its last byte. Borrows the bytes.
///
/// Knows nothing of levels: `JSONReader` puts the tokens in order and names what is wrong. A method that fails returns
/// `nil` or false and leaves the scanner at the fault, unless it says otherwise. A scanner is two pointers, so a function
/// that takes one and returns one keeps it in registers. Every read is behind a check of `place` or `left`, so no pointer
/// leaves the bytes.
@usableFromInline
package struct JSONScanner: BitwiseCopyable {
    /// The current byte's address; at the end, the address behind the last byte.
    @usableFromInline package private(set) var place: UnsafePointer<UInt8>
    /// The address behind the last byte. It is compared with, never read.
    @usableFromInline let end: UnsafePointer<UInt8>

    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no address; then the scanner is at the end of an empty literal.
        place = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? ("" as StaticString).utf8Start
        end = place + bytes.count
    }

    /// The current byte; 0 at the end, a byte that no JSON text contains. So a loop over expected bytes ends there
    /// without a check of its own.
    @inlinable @inline(__always)
    package var current: UInt8 { place < end ? place.pointee : 0 }

    /// The byte after `current`; 0 beyond the end.
    @inlinable @inline(__always)
    package var second: UInt8 { left > 1 ? place[1] : 0 }

    @inlinable @inline(__always)
    package var isAtEnd: Bool { place == end }

    /// The number of bytes from the current one to the end.
    @inlinable @inline(__always)
    package var left: Int { end - place }

    /// Passes bytes, of which at least so many are left.
    @inlinable @inline(__always)
    package mutating func pass(_ count: Int = 1) {
        assert(count <= left, "the bytes lie in the text")
        place += count
    }

    /// Passes the white space of RFC 8259, section 2.
    @inlinable @inline(__always)
    package mutating func skipSpace() {
        // Frames of most servers have no white space, so one comparison decides.
        if current > 0x20 { return }
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { place += 1 }
    }

    /// Skips white space, then passes `byte`; false if another byte follows.
    @inlinable @inline(__always)
    package mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        place += 1
        return true
    }

    /// Skips white space, then passes `null`; false if something else follows.
    @inlinable @inline(__always)
    package mutating func takeNull() -> Bool {
        skipSpace()
        return current == UInt8(ascii: "n") && takeLiteral("null")
    }

    /// Passes a literal of at least one byte; false, without moving, if something else follows.
    @inlinable @inline(__always)
    package mutating func takeLiteral(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        assert(count > 0, "a literal has at least one byte")
        guard left >= count, Self.isSame(place, literal.utf8Start, count) else { return false }
        place += count
        return true
    }

    /// Passes given bytes; false, without moving, if something else follows.
    @inlinable @inline(__always)
    package mutating func take(bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), left >= bytes.count,
            Self.isSame(place, start, bytes.count)
        else { return false }
        place += bytes.count
        return true
    }

    /// Passes a member's name without escapes and its colon; false, without moving, if something else follows. `current` must
    /// be the opening quote.
    ///
    /// For decoders that know the names they look for: a match costs a comparison of words, and no text is made.
    @inlinable @inline(__always)
    package mutating func takeName(_ name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard left > count + 1, Self.isSame(place + 1, name.utf8Start, count), place[count + 1] == UInt8(ascii: "\"")
        else { return false }
        let start = place
        place += count + 2
        if take(UInt8(ascii: ":")) { return true }
        place = start
        return false
    }

    /// Passes any member's name of ASCII without escapes, and its colon; false for other names. It may have moved then,
    /// so the caller must give up or begin again from a copy.
    @inlinable
    package mutating func passName() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        skipPlain()
        return take(UInt8(ascii: "\"")) && take(UInt8(ascii: ":"))
    }

    /// Passes one value of any form; false if `JSONReader` would refuse it `levels` deep in a larger text. Checks every
    /// byte, like `JSONReader.skip`, and does not move on a fault.
    package mutating func passValue(within levels: Int) -> Bool {
        var reader = JSONReader(UnsafeRawBufferPointer(start: place, count: left), within: levels)
        guard (try? reader.skip()) != nil else { return false }
        assert(reader.offset <= left, "a value ends within the text")
        place += reader.offset
        return true
    }

    /// The bytes between `start`, an earlier scanner of the same text, and this one.
    @inlinable
    package func bytes(from start: JSONScanner) -> UnsafeRawBufferPointer {
        assert(start.place <= place && start.end == end, "both scanners walk over one text, the other one is behind")
        return UnsafeRawBufferPointer(start: start.place, count: place - start.place)
    }

    /// Compares bytes by words. Both pointers must have `count` bytes, which the callers have checked.
    @inlinable @inline(__always)
    static func isSame(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        var index = 0
        while count &- index >= 8 {
            if word(left + index) != word(right + index) { return false }
            index &+= 8
        }
        if index == count { return true }
        // The rest is compared in whole words, which may overlap bytes compared before.
        if count > 8 { return word(left + (count &- 8)) == word(right + (count &- 8)) }
        if count >= 4 {
            return half(left) == half(right) && half(left + (count &- 4)) == half(right + (count &- 4))
        }
        while index < count {
            if left[index] != right[index] { return false }
            index &+= 1
        }
        return true
    }

    /// Eight bytes as one little-endian number.
    @inlinable @inline(__always)
    static func word(_ place: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
    }

    /// Four bytes in the machine's order. For comparisons alone.
    @inlinable @inline(__always)
    static func half(_ place: UnsafePointer<UInt8>) -> UInt32 {
        UnsafeRawPointer(place).loadUnaligned(as: UInt32.self)
    }
}

// MARK: - Texts

extension JSONScanner {
    /// Reads a text. A failure leaves the scanner at the first byte of what is wrong: an escape, a byte that is not UTF-8, a
    /// control character, or the end.
    ///
    /// - Parameter allowsAnyBytes: Whether bytes above 0x7F need not be UTF-8 (RFC 3629).
    @inlinable @inline(__always)
    package mutating func text(allowsAnyBytes: Bool = false) -> JSONText? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = place
        var hasEscapes = false
        while true {
            skipPlain()
            let byte = current
            if byte == UInt8(ascii: "\"") {
                let text = UnsafeRawBufferPointer(start: start, count: place - start)
                place += 1
                return JSONText(bytes: text, hasEscapes: hasEscapes)
            }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                guard skipEscape() else { return nil }
            } else if byte >= 0x80 {
                guard skipScalar() else {
                    guard allowsAnyBytes else { return nil }
                    place += 1
                    continue
                }
                // Scalars like this one mostly come in numbers. The opening quote and the scalar are three bytes at least.
                place += UTF8Sequence.plainCount(place, left: left)
            } else {
                return nil
            }
        }
    }

    /// Passes the plain bytes of a text, eight at a time: ASCII from 0x20 on, no quote and no backslash.
    @inlinable @inline(__always)
    mutating func skipPlain() {
        while left >= 8 {
            let marks = ByteWord.specials(Self.word(place))
            if marks != 0 {
                place += marks.trailingZeroBitCount / 8
                return
            }
            place += 8
        }
        while Self.isPlain(current) { place += 1 }
    }

    /// True for the bytes that `skipPlain` passes.
    @inlinable
    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Passes one escape; false, without moving, if it is malformed.
    @inlinable @inline(__always)
    mutating func skipEscape() -> Bool {
        let letter = second
        guard letter == UInt8(ascii: "u") else {
            guard Self.isEscape(letter) else { return false }
            place += 2
            return true
        }
        guard left >= 6, JSONText.hexDigit(place[2]) != nil, JSONText.hexDigit(place[3]) != nil,
            JSONText.hexDigit(place[4]) != nil, JSONText.hexDigit(place[5]) != nil
        else { return false }
        place += 6
        return true
    }

    /// Whether a backslash and this letter make an escape of two bytes.
    @inlinable @inline(__always)
    static func isEscape(_ letter: UInt8) -> Bool {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        default: return false
        }
    }

    /// Passes one scalar of two to four bytes; false, without moving, if it is not UTF-8.
    @inlinable @inline(__always)
    mutating func skipScalar() -> Bool {
        // The most frequent one first: two bytes.
        if left >= 2, (0xC2...0xDF).contains(place[0]), place[1] & 0xC0 == 0x80 {
            place += 2
            return true
        }
        let length = UTF8Sequence.length(place, left: left)
        place += length
        return length > 0
    }
}

// MARK: - Unread values

extension JSONScanner {
    /// What ended in `passUnread`: the value, or the bytes within a text or a container.
    enum Unread {
        case value, text, container
    }

    /// Passes a text, object or array, whose first byte is the current one, and checks nothing but where it ends: brackets
    /// of both kinds count alike, those in texts do not count. No recursion, so that deep nesting costs no stack.
    mutating func passUnread() -> Unread {
        // A local copy stays in registers; most bytes of most frames are passed in this loop.
        var scanner = self
        defer { self = scanner }
        var depth = 0
        repeat {
            guard !scanner.isAtEnd else { return .container }
            let byte = scanner.place.pointee
            scanner.place += 1
            switch byte {
            case UInt8(ascii: "\""): if !scanner.passRestOfText() { return .text }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        } while depth > 0
        return .value
    }

    /// Moves from within a text to behind its closing quote, whatever comes before; false, at the end, if none follows.
    @inline(__always)
    mutating func passRestOfText() -> Bool {
        while true {
            while left >= ByteWord.size {
                let word = Self.word(place)
                let marks = ByteWord.zeros(word ^ ByteWord.all(0x22)) | ByteWord.zeros(word ^ ByteWord.all(0x5C))
                place += marks == 0 ? ByteWord.size : marks.trailingZeroBitCount / 8
                if marks != 0 { break }
            }
            while !isAtEnd, place.pointee != UInt8(ascii: "\""), place.pointee != UInt8(ascii: "\\") { place += 1 }
            guard !isAtEnd else { return false }
            if place.pointee == UInt8(ascii: "\"") {
                place += 1
                return true
            }
            // The escaped byte cannot end the text.
            place += min(2, left)
        }
    }

    /// Passes any word of the bytes of numbers, `true`, `false` and `null`: lower-case letters, digits, `E`, signs and
    /// the point; false if none is here.
    mutating func passWord() -> Bool {
        let start = place
        while true {
            switch current {
            case 0x30...0x39, 0x61...0x7A, 0x45, 0x2B, 0x2D, 0x2E: place += 1
            default: return place > start
            }
        }
    }
}

// MARK: - Numbers

extension JSONScanner {
    /// Reads a number of any form.
    ///
    /// A failure leaves the scanner where a digit is missing.
    @inlinable
    package mutating func number() -> JSONDigits? {
        skipSpace()
        let start = place
        if current == UInt8(ascii: "-") { place += 1 }
        // No digit may follow a leading zero: the caller finds it where a comma or an end must be.
        if current == UInt8(ascii: "0") { place += 1 } else if !skipDigits() { return nil }
        let wholeEnd = place
        if current == UInt8(ascii: ".") {
            place += 1
            if !skipDigits() { return nil }
        }
        if current | 0x20 == UInt8(ascii: "e") {
            place += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { place += 1 }
            if !skipDigits() { return nil }
        }
        return JSONDigits(
            bytes: UnsafeRawBufferPointer(start: start, count: place - start),
            isWhole: place == wholeEnd
        )
    }

    /// Passes digits; false if none is here.
    @inlinable
    mutating func skipDigits() -> Bool {
        let start = place
        while (0x30...0x39).contains(current) { place += 1 }
        return place > start
    }

    /// Reads an unsigned whole number below 2^63, without leading zeros. Whether a fraction or exponent follows is for
    /// the caller to check. After `nil` the scanner may have moved.
    @inlinable @inline(__always)
    package mutating func wholeNumber() -> UInt64? {
        skipSpace()
        let start = place
        guard let value = digits() else { return nil }
        if start.pointee == UInt8(ascii: "0"), place > start + 1 { return nil }
        return value
    }

    /// Reads an id: a number below 2^63 without leading zeros, written as a text or as a number. Escapes are not
    /// decoded, so an id written with one gives `nil`.
    @inlinable @inline(__always)
    package mutating func id() -> UInt64? {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { return wholeNumber() }
        place += 1
        let start = place
        guard let value = digits(), current == UInt8(ascii: "\"") else { return nil }
        if start.pointee == UInt8(ascii: "0"), place > start + 1 { return nil }
        place += 1
        return value
    }

    /// Reads 1 to 19 digits; `nil` from 2^63 on. The sum may wrap beyond 19 digits, which the count refuses.
    @inlinable @inline(__always)
    mutating func digits() -> UInt64? {
        let start = place
        var value: UInt64 = 0
        while left >= 8, let eight = Self.eightDigits(Self.word(place)) {
            value = value &* 100_000_000 &+ eight
            place += 8
        }
        while case let digit = current &- 0x30, digit < 10 {
            value = value &* 10 &+ UInt64(digit)
            place += 1
        }
        let count = place - start
        return count > 0 && count < 20 && value < 1 << 63 ? value : nil
    }

    /// The value of eight ASCII digits; `nil` if one is no digit. (Source: Daniel Lemire, "Quickly parsing eight digits",
    /// 2018.)
    @inlinable @inline(__always)
    static func eightDigits(_ word: UInt64) -> UInt64? {
        // An ASCII digit has the high half 3, and keeps it when 6 is added, which takes `:` to `?` to 4.
        let high: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        guard word & high | ((word &+ 0x0606_0606_0606_0606) & high) >> 4 == 0x3333_3333_3333_3333 else { return nil }
        // Joins neighbours by one multiplication each: digits to pairs, pairs to fours, fours to eight.
        let pairs = ((word & 0x0F0F_0F0F_0F0F_0F0F) &* 2561) >> 8
        let fours = ((pairs & 0x00FF_00FF_00FF_00FF) &* 6_553_601) >> 16
        return ((fours & 0x0000_FFFF_0000_FFFF) &* 42_949_672_960_001) >> 32
    }
}
