/// Tests sixteen bytes at once. Pays for bytes that are looked through from end to end, such as payloads; for the short pieces
/// between two characters that mean something, use `ByteWord`.
enum ByteBlock {
    typealias Bytes = SIMD16<UInt8>

    static let size = 16

    /// What a comparison found, as two words: 0xFF for each byte that fits, 0 for others. The first byte is the lowest.
    @inline(__always)
    static func marks(_ mask: SIMDMask<SIMD16<Int8>>) -> (low: UInt64, high: UInt64) {
        let words = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        return (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
    }
}

extension UnsafeRawBufferPointer {
    /// Sixteen bytes. They must lie within the buffer; release builds do not check that.
    @inline(__always)
    func block(_ offset: Int) -> ByteBlock.Bytes {
        assert(offset >= 0 && offset + ByteBlock.size <= count, "a block lies within the buffer")
        return loadUnaligned(fromByteOffset: offset, as: ByteBlock.Bytes.self)
    }
}
