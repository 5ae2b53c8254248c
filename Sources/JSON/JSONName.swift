/// A name that is looked for in objects, with what tells it from most others at once. A class, so that handing it on counts one
/// reference instead of those of its text and its bytes.
package final class JSONName: Hashable, Sendable {
    package let text: String
    let bytes: [UInt8]
    let mark: UInt32

    package init(_ text: String) {
        let bytes = Array(text.utf8)
        (self.text, self.bytes) = (text, bytes)
        mark = bytes.withUnsafeBytes { Self.mark(of: $0) }
    }

    package static func == (left: JSONName, right: JSONName) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytes)
    }

    /// A number that names share if they are the same; made of the length and of the first and last four bytes.
    @inline(__always)
    static func mark(of name: UnsafeRawBufferPointer) -> UInt32 {
        guard name.count >= 4 else { return name.reduce(UInt32(name.count)) { $0 << 8 | UInt32($1) } }
        let first = name.loadUnaligned(as: UInt32.self)
        let last = name.loadUnaligned(fromByteOffset: name.count - 4, as: UInt32.self)
        return first ^ (last << 7 | last >> 25) ^ UInt32(truncatingIfNeeded: name.count) &* 0x9E37_79B1
    }
}
