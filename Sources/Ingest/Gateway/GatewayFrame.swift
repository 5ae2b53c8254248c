import JSON

#if Recorders
/// The outer members of a gateway frame: `op`, `s`, `t`, and the range of `d`. Of a member that occurs twice, the last
/// one counts.
struct GatewayFrame {
    /// The operation; `nil` if `op` is missing or not a whole number.
    private(set) var operation: Int?
    /// `s`: the number of a dispatch.
    private(set) var number: UInt64?
    private let bytes: ArraySlice<UInt8>
    /// The range of `t`, the name of a dispatch, with its quotes; counts from the frame's first byte.
    private var name: Range<Int>?
    /// The range of the value of `d`; counts from the frame's first byte.
    private var data: Range<Int>?

    /// Reads a frame; `nil` if it is not a JSON object. The value of `d` is not checked. Cost: one pass, no copy.
    init?(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        let isRead = bytes.withUnsafeBufferPointer { buffer -> Bool in
            do throws(JSONError) {
                return try read(buffer)
            } catch {
                return false
            }
        }
        guard isRead else { return nil }
    }

    /// What a frame that is no JSON is written in, by its first byte; `nil` if that shows nothing.
    static func coding(of bytes: ArraySlice<UInt8>) -> String? {
        switch (bytes.first, bytes.dropFirst().first) {
        // RFC 1950: the window's size and method, then a check of both.
        case (0x78, let second?) where (0x7800 + UInt16(second)) % 31 == 0: "zlib-stream"
        // RFC 8878, section 3.1.1: the magic number.
        case (0x28, 0xB5?): "zstd-stream"
        // The version of Erlang's external term format.
        case (0x83, _?): "etf"
        default: nil
        }
    }

    /// The value of `d`, parsed; `nil` if it is missing or not JSON. Cost: a copy and a parse at each call.
    var dataValue: JSONValue? {
        data.flatMap { JSONValue(received: Array(bytes.part($0))) }
    }

    /// True if `t` is `name`.
    func isNamed(_ name: StaticString) -> Bool {
        guard let range = self.name else { return false }
        return bytes.withUnsafeBufferPointer { $0.holds(name, at: range.dropFirst().dropLast()) }
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) -> Bool {
        var members = JSONMembers(bytes)
        guard members.isObject == true else { return false }
        while let member = try members.next() {
            if bytes.holds("op", at: member.name) {
                operation = bytes.number(at: member.value).flatMap { Int($0) }
            } else if bytes.holds("s", at: member.name) {
                number = bytes.number(at: member.value).flatMap { UInt64($0) }
            } else if bytes.holds("t", at: member.name) {
                name = bytes[member.value.lowerBound] == 0x22 ? member.value : nil
            } else if bytes.holds("d", at: member.name) {
                data = member.value
            }
        }
        return true
    }
}

extension ArraySlice<UInt8> {
    /// The bytes of a range that counts from the slice's first byte.
    func part(_ place: Range<Int>) -> ArraySlice<UInt8> {
        self[startIndex + place.lowerBound..<startIndex + place.upperBound]
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The text of a value that begins like a number; `nil` for other values. The caller converts it, which refuses
    /// fractions and exponents.
    func number(at range: Range<Int>) -> String? {
        guard let first = self[range].first, first == 0x2D || (0x30...0x39).contains(first) else { return nil }
        return String(decoding: self[range], as: UTF8.self)
    }
}
#endif
