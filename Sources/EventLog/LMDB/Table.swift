import CLMDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A named database of one environment. Keys are bytes in byte order; numbers are fixed-width and big-endian.
struct Table: Sendable {
    let name: String
    /// Valid in every transaction of its environment, also after that was reopened.
    let handle: MDB_dbi
}

/// Lends a 64-bit number as the eight bytes of a key, big-endian, so that byte order is numeric order on every machine.
@inline(__always)
func withKey<Result>(_ number: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withUnsafeBytes(of: number.bigEndian, body)
}

/// Lends a 32-bit number as the four bytes of a key, big-endian.
@inline(__always)
func withKey<Result>(_ number: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withUnsafeBytes(of: number.bigEndian, body)
}

/// Whether two buffers hold the same bytes.
package func sameBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    guard let start = left.baseAddress, let other = right.baseAddress else { return true }
    return memcmp(start, other, left.count) == 0
}

/// Whether `left` comes before `right` in the order of LMDB's keys: by bytes, and a prefix first.
func precedesBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard let start = left.baseAddress, let other = right.baseAddress else { return left.count < right.count }
    let order = memcmp(start, other, min(left.count, right.count))
    return order == 0 ? left.count < right.count : order < 0
}

extension UnsafeRawBufferPointer {
    /// Whether no byte has its highest bit.
    var isASCII: Bool {
        var bits: UInt64 = 0
        guard count >= 8 else {
            for byte in self { bits |= UInt64(byte) }
            return bits & 0x80 == 0
        }
        for index in stride(from: 0, to: count - 7, by: 8) {
            bits |= loadUnaligned(fromByteOffset: index, as: UInt64.self)
        }
        // The last eight bytes; the loop may have read some of them.
        bits |= loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        return bits & 0x8080_8080_8080_8080 == 0
    }

    /// The big-endian number at an offset; `nil` if it does not lie within the buffer.
    func bigEndian<Number: FixedWidthInteger>(at offset: Int = 0, as type: Number.Type) -> Number? {
        guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
        return Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
