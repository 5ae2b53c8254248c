#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Finds tokens in bytes, in every form in which a server may write them: as they are, escaped as in JSON, in percent
/// encoding, base64 or hexadecimal, and in UTF-16.
///
/// Escapes of single characters are decoded; the other forms are searched as they are. The search looks at one place in
/// each `shortest - 1` bytes as long as nothing is found (Wu and Manber, "A fast algorithm for multi-pattern searching",
/// 1994, with blocks of two bytes).
package struct TokenSearch: Sendable {
    /// Needles of fewer than `longBytes` bytes, and the others, where there are many; else one group with all.
    private let groups: [NeedleGroup]

    /// How many layers of escapes are decoded: a JSON text may lie within a string of another one.
    private static let layersMax = 2
    /// More needles than this are kept in two groups, so that short ones do not shorten the steps of the others.
    private static let manyNeedles = 256
    /// Needles of so many bytes are long.
    private static let longBytes = 8

    /// The forms that are searched for, in words.
    package static let formNames = ["raw", "JSON escapes", "percent", "base64", "hexadecimal", "UTF-16"]

    /// - Parameters:
    ///   - tokens: none of them empty. A form of one byte is not looked for.
    ///   - encoded: tokens that are looked for in every form but as they are.
    package init(_ tokens: [String], encoded: [String] = []) {
        var needles: Set<[UInt8]> = []
        for token in tokens { needles.formUnion(Self.forms(of: Array(token.utf8))) }
        for token in encoded {
            let bytes = Array(token.utf8)
            needles.formUnion(Self.forms(of: bytes).filter { $0 != bytes })
        }
        let all = needles.filter { $0.count > 1 }
        guard all.count > Self.manyNeedles else {
            groups = [NeedleGroup(Array(all))]
            return
        }
        let long = all.filter { $0.count >= Self.longBytes }
        groups = [NeedleGroup(Array(long)), NeedleGroup(Array(all.subtracting(long)))].filter { !$0.isEmpty }
    }

    /// True if the bytes contain a token.
    package func occurs(in bytes: UnsafeRawBufferPointer) -> Bool { occurs(in: bytes, layers: Self.layersMax) }

    private func occurs(in bytes: UnsafeRawBufferPointer, layers: Int) -> Bool {
        if groups.contains(where: { $0.next(in: bytes, from: 0) != nil }) { return true }
        guard layers > 0, Self.hasEscapes(bytes) else { return false }
        return UnescapedText(bytes, keepsPlaces: false).bytes.withUnsafeBytes { occurs(in: $0, layers: layers - 1) }
    }

    /// True if a text contains a token.
    package func occurs(in text: String) -> Bool {
        var text = text
        return text.withUTF8 { occurs(in: UnsafeRawBufferPointer($0)) }
    }

    /// The places of all tokens, ascending unless escapes were decoded; a place may then come twice.
    package func places(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] { places(in: bytes, layers: Self.layersMax) }

    private func places(in bytes: UnsafeRawBufferPointer, layers: Int) -> [Range<Int>] {
        let found = plainPlaces(in: bytes)
        guard layers > 0, Self.hasEscapes(bytes) else { return found }
        let text = UnescapedText(bytes)
        return found + text.bytes.withUnsafeBytes { places(in: $0, layers: layers - 1).map(text.place) }
    }

    /// The places of the needles as they are, ascending; none overlaps the one before.
    package func plainPlaces(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        var found: [Range<Int>] = []
        // The next place of each group is kept until the search has passed it.
        var next = groups.map { $0.next(in: bytes, from: 0) }
        while true {
            let places = next.compactMap { $0 }
            guard let place = places.min(by: { ($0.lowerBound, -$0.count) < ($1.lowerBound, -$1.count) }) else {
                return found
            }
            found.append(place)
            for (index, group) in groups.enumerated() {
                guard let known = next[index], known.lowerBound < place.upperBound else { continue }
                next[index] = group.next(in: bytes, from: place.upperBound)
            }
        }
    }

    /// True if an escape of JSON or a URL may hide a character.
    static func hasEscapes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        if memchr(start, 0x25, bytes.count) != nil { return true }
        var index = 0
        while index < bytes.count, let place = memchr(start + index, 0x5C, bytes.count - index) {
            index = UnsafeRawPointer(place) - start + 1
            if index < bytes.count, bytes[index] == 0x75 { return true }
            // Of two backslashes the second one is what the first one escapes; it may begin an escape of the next layer.
            if index + 1 < bytes.count, bytes[index] == 0x5C, bytes[index + 1] == 0x75 { return true }
            index += 1
        }
        return false
    }
}

extension TokenSearch {
    /// The forms of one token that are searched as they are.
    private static func forms(of token: [UInt8]) -> [[UInt8]] {
        let escaped = escaped(token)
        // JSON may escape a slash, too.
        let slashes: [UInt8] = escaped.flatMap { $0 == 0x2F ? [0x5C, 0x2F] : [$0] }
        let upper: [UInt8] = token.flatMap { [digit($0 >> 4, 0x41), digit($0 & 15, 0x41)] }
        let lower: [UInt8] = token.flatMap { [digit($0 >> 4, 0x61), digit($0 & 15, 0x61)] }
        return [token, slashes, escaped, self.escaped(escaped), upper, lower] + wideForms(of: token)
            + base64Forms(of: token)
    }

    /// A text in UTF-16, in both byte orders. Of ASCII one form without the last zero is found in both.
    private static func wideForms(of token: [UInt8]) -> [[UInt8]] {
        if token.allSatisfy({ $0 < 0x80 }) { return [Array(token.flatMap { [$0, 0] }.dropLast())] }
        let units = Array(String(decoding: token, as: UTF8.self).utf16)
        return [
            units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] },
            units.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] },
        ]
    }

    /// A text as JSON writes it. Done twice, it is the text of a JSON that lies within a string of another one.
    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x22, 0x5C: [0x5C, byte]
            case 0x08: [0x5C, 0x62]
            case 0x09: [0x5C, 0x74]
            case 0x0A: [0x5C, 0x6E]
            case 0x0C: [0x5C, 0x66]
            case 0x0D: [0x5C, 0x72]
            default: [byte]
            }
        }
    }

    private static func digit(_ value: UInt8, _ letter: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : letter + value - 10
    }

    /// The text of a token in base64 for each of the three places in a group at which it may begin, without the digits
    /// that other bytes share (RFC 4648, sections 4 and 5).
    private static func base64Forms(of token: [UInt8]) -> [[UInt8]] {
        (0..<3).flatMap { before -> [[UInt8]] in
            let text = Array(Base64.encode([UInt8](repeating: 0, count: before) + token).utf8)
            let first = (before * 8 + 5) / 6
            let last = (before + token.count) * 8 / 6
            let plain = Array(text[first..<last])
            return [plain, plain.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }]
        }
    }
}

/// Bytes with the escapes of JSON strings and of URLs decoded, and the place of each byte.
private struct UnescapedText {
    private(set) var bytes: [UInt8] = []
    /// The place of each byte, and of the end; empty if the places are not kept.
    private var places: [Int] = []

    /// - Parameter keepsPlaces: false for a search that only asks whether a token occurs.
    init(_ escaped: UnsafeRawBufferPointer, keepsPlaces: Bool = true) {
        let raw = escaped.assumingMemoryBound(to: UInt8.self)
        bytes.reserveCapacity(raw.count)
        var index = 0
        var (slash, percent) = (Self.next(0x5C, in: raw, from: 0), Self.next(0x25, in: raw, from: 0))
        while index < raw.count {
            // What lies between two escapes is copied at once.
            let escape = min(slash, percent)
            bytes += raw[index..<escape]
            if keepsPlaces { places += index..<escape }
            guard escape < raw.count else { break }
            let (decoded, length) = Self.character(raw, at: escape)
            bytes += decoded
            if keepsPlaces { places += repeatElement(escape, count: decoded.count) }
            index = escape + length
            if slash < index { slash = Self.next(0x5C, in: raw, from: index) }
            if percent < index { percent = Self.next(0x25, in: raw, from: index) }
        }
        if keepsPlaces { places.append(raw.count) }
    }

    /// The index of the next byte of this value at or after `start`; the end if there is none.
    private static func next(_ byte: Int32, in raw: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let first = raw.baseAddress, start < raw.count,
            let place = memchr(first + start, byte, raw.count - start)
        else { return raw.count }
        return UnsafeRawPointer(place) - UnsafeRawPointer(first)
    }

    /// The character at a backslash or percent sign, and its length in the escaped bytes.
    private static func character(_ raw: UnsafeBufferPointer<UInt8>, at index: Int) -> ([UInt8], length: Int) {
        if raw[index] == 0x5C, let escape = JSONEscape.scalar(raw, at: index) {
            return (UTF8.encode(escape.scalar).map { Array($0) } ?? [], escape.length)
        }
        if raw[index] == 0x25, raw.count - index >= 3, let high = JSONText.hexDigit(raw[index + 1]),
            let low = JSONText.hexDigit(raw[index + 2])
        {
            return ([high << 4 | low], 3)
        }
        return ([raw[index]], 1)
    }

    /// The place in the escaped bytes of a place in these.
    func place(_ range: Range<Int>) -> Range<Int> { places[range.lowerBound]..<places[range.upperBound] }
}
