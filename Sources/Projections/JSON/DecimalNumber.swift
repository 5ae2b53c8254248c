import JSON

/// The exact value of a JSON number: a sign, digits and a place for the point. Nothing is rounded.
///
/// Equal numbers have equal values, however they are written: `1.50`, `15e-1` and `1.5` are one.
struct DecimalNumber: Equatable {
    let isNegative: Bool
    /// The significant digits in ASCII, without zeros at either end; empty for zero.
    let digits: [UInt8]
    /// How many digits stand before the point: beyond the last of them, zeros follow. 0 for zero.
    let exponent: Int

    /// The most digits of a whole number that is written out: as many as the greatest `Double` has.
    private static let wholeDigitsMax = 309
    /// The most digits of an exponent that is read, so that sums with it fit.
    private static let exponentDigitsMax = 17

    /// - Parameter text: follows the grammar of RFC 8259.
    /// - Returns: `nil` if the exponent has more than 17 digits.
    init?(_ text: String) {
        var (digits, wholeCount, power): ([UInt8], Int?, Int) = ([], nil, 0)
        var rest = Array(text.utf8)[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ".") {
                wholeCount = digits.count
            } else if byte | 0x20 == UInt8(ascii: "e") {
                guard let read = Self.exponent(rest) else { return nil }
                power = read
                break
            } else {
                digits.append(byte)
            }
        }
        let start = digits.firstIndex { $0 != UInt8(ascii: "0") } ?? digits.count
        let end = (digits.lastIndex { $0 != UInt8(ascii: "0") } ?? -1) + 1
        let isZero = start == digits.count
        self.isNegative = isNegative && !isZero
        self.digits = isZero ? [] : Array(digits[start..<end])
        exponent = isZero ? 0 : (wholeCount ?? digits.count) - start + power
    }

    /// Reads what stands behind the letter.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
        let unsigned = text.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        let digits = unsigned.drop { $0 == UInt8(ascii: "0") }
        guard digits.count <= exponentDigitsMax else { return nil }
        let magnitude = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return text.first == UInt8(ascii: "-") ? -magnitude : magnitude
    }

    var isZero: Bool { digits.isEmpty }

    /// The number with all its digits, by the cases of ECMAScript's Number::toString, except that a number of more than
    /// 21 digits before the point has no exponent where these are known: whole numbers have none either.
    var text: String {
        if isZero { return "0" }
        let isWritten = exponent <= digits.count || exponent <= Self.wholeDigitsMax
        return Self.text(digits, exponent, isNegative: isNegative, isWritten: exponent > 0 && isWritten)
    }

    /// Writes digits other than zero: a point within, behind or before them, else an exponent.
    ///
    /// - Parameter isWritten: whether no exponent is needed although there are digits before the point.
    static func text(_ digits: [UInt8], _ exponent: Int, isNegative: Bool, isWritten: Bool) -> String {
        var text: [UInt8] = isNegative ? [UInt8(ascii: "-")] : []
        if isWritten {
            text += digits.prefix(exponent)
            if exponent < digits.count { text += [UInt8(ascii: ".")] + digits.dropFirst(exponent) }
            text += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, exponent - digits.count))
        } else if exponent > -6, exponent <= 0 {
            text += "0.".utf8
            text += [UInt8](repeating: UInt8(ascii: "0"), count: -exponent) + digits
        } else {
            let power = exponent - 1
            text += digits.prefix(1)
            if digits.count > 1 { text += [UInt8(ascii: ".")] + digits.dropFirst() }
            text += "e\(power < 0 ? "-" : "+")\(power.magnitude)".utf8
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension DecimalNumber: Comparable {
    static func < (left: DecimalNumber, right: DecimalNumber) -> Bool {
        if left.sign != right.sign { return left.sign < right.sign }
        return left.isNegative ? right.isSmaller(than: left) : left.isSmaller(than: right)
    }

    private var sign: Int { isZero ? 0 : isNegative ? -1 : 1 }

    /// Compares the magnitudes of two numbers that are not zero, or of two zeros.
    private func isSmaller(than other: DecimalNumber) -> Bool {
        if exponent != other.exponent { return exponent < other.exponent }
        // No digits end with a zero, so the longer of two that begin alike is the greater.
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
