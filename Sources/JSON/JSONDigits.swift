/// A number as it is written in a JSON text. Borrows the bytes: valid only as long as they are. Kept as text, because
/// ids have 64 bits and a `Double` only 53: a conversion through floating point would merge ids.
@usableFromInline
package struct JSONDigits {
    /// The bytes, which follow the grammar of RFC 8259.
    @usableFromInline
    package let bytes: UnsafeRawBufferPointer
    /// Whether it is written without fraction and exponent.
    @usableFromInline
    package let isWhole: Bool

    @inlinable
    package init(bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        self.bytes = bytes
        self.isWhole = isWhole
    }

    /// The number, if it is written without fraction and exponent and fits; never rounded through floating point.
    package var int64: Int64? {
        guard let magnitude else { return nil }
        if !isNegative { return Int64(exactly: magnitude) }
        return magnitude == Int64.min.magnitude ? .min : Int64(exactly: magnitude).map { -$0 }
    }

    /// The number, if it is written without fraction and exponent and fits; never rounded through floating point.
    package var uint64: UInt64? {
        magnitude.flatMap { isNegative && $0 > 0 ? nil : $0 }
    }

    private var isNegative: Bool { bytes.first == UInt8(ascii: "-") }

    /// The digits as a number, without the sign; `nil` with a fraction or exponent, or from 2^64 on.
    private var magnitude: UInt64? {
        guard isWhole else { return nil }
        var value: UInt64 = 0
        for byte in bytes where byte != UInt8(ascii: "-") {
            // The reader has checked the grammar, so every byte but the sign is a digit.
            let (scaled, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, carries) = scaled.addingReportingOverflow(UInt64(byte &- 0x30))
            if isTooLarge || carries { return nil }
            value = sum
        }
        return value
    }
}
