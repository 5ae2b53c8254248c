/// The outer members of a gateway frame: `op`, `s`, `t`, and where `d` stands.
struct GatewayFrame {
    /// The operation; `nil` where the frame has none that is a whole number.
    private(set) var operation: Int?
    /// `s`: the number of a dispatch.
    private(set) var number: UInt64?
    /// `t`: the name of a dispatch.
    private(set) var name: [UInt8] = []
    /// The place of the value of `d` in the frame.
    private(set) var data: Range<Int>?

    /// Reads a frame; `nil` where it is no JSON object. Cost: one pass, no copy of `d`.
    init?(_ bytes: [UInt8]) {
        let isRead = bytes.withUnsafeBufferPointer { buffer -> Bool in
            do throws(JSONFault) {
                return try read(buffer)
            } catch {
                return false
            }
        }
        guard isRead else { return nil }
    }

    /// The value of `d`.
    func dataTree(in bytes: [UInt8]) -> JSONTree? {
        data.flatMap { JSONTree(parsing: Array(bytes[$0])) }
    }

    /// Whether `t` is a name.
    func isNamed(_ name: StaticString) -> Bool {
        self.name.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) -> Bool {
        var scanner = JSONScanner(bytes)
        guard try scanner.next()?.kind == .beginObject else { return false }
        while let token = try scanner.next() {
            guard token.kind == .name else { continue }
            guard let value = try scanner.next() else { return false }
            let start = value.kind == .string ? value.range.lowerBound - 1 : value.range.lowerBound
            while scanner.depth > 1 { _ = try scanner.next() }
            take(bytes[token.range], value, start..<scanner.position, bytes)
        }
        return true
    }

    private mutating func take(
        _ name: Slice<UnsafeBufferPointer<UInt8>>,
        _ value: JSONScanner.Token,
        _ range: Range<Int>,
        _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        switch String(decoding: name, as: UTF8.self) {
        case "op" where value.kind == .number: operation = Int(String(decoding: bytes[value.range], as: UTF8.self))
        case "s" where value.kind == .number: number = UInt64(String(decoding: bytes[value.range], as: UTF8.self))
        case "t" where value.kind == .string: self.name = Array(bytes[value.range])
        case "d": data = range
        default: break
        }
    }
}
