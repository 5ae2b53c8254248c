import Projections

extension ScriptNumber {
    /// The number without its fraction; `nil` for NaN, infinities, and anything beyond 64 bits.
    static func whole(_ value: Double) -> Int64? { Int64(exactly: value.rounded(.towardZero)) }

    /// The result of `parseInt` for digits in base 2, 8, 10 or 16. The digits must be valid in the base.
    static func integer(_ digits: some StringProtocol, radix: Int) -> Double {
        guard let width = [2: 1, 8: 3, 16: 4][radix] else { return decimal(digits) }
        // Written as one hexadecimal number of any length, the digits are rounded to a double once. A sum digit by
        // digit would round at each step.
        var bits = digits.utf8.flatMap { byte -> [UInt8] in
            let value = byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x61 + 10
            return (0..<width).reversed().map { value >> UInt8($0) & 1 }
        }
        bits = [UInt8](repeating: 0, count: (4 - bits.count % 4) % 4) + bits
        assert(bits.count % 4 == 0, "a hexadecimal digit is four bits")
        let hexadecimal = stride(from: 0, to: bits.count, by: 4).map { start in
            String(bits[start..<start + 4].reduce(0) { Int($0) << 1 | Int($1) }, radix: 16)
        }
        return Double("0x\(hexadecimal.joined())p0") ?? .nan
    }

    /// A number in base 60, the most significant part first. Adds from the least significant part, as js-yaml does: in
    /// floating point the order decides the result.
    static func sexagesimal(_ parts: [Double]) -> Double {
        var sum = 0.0
        var base = 1.0
        for part in parts.reversed() {
            sum += part * base
            base *= 60
        }
        return sum
    }
}
