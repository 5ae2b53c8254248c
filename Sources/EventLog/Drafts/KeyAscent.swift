/// The keys of a batch in which each key is above the one before, as a recorder's own numbers are.
///
/// If the first key is above all held keys, so are all others, and no key occurs twice. The order is by length, then by
/// bytes, in which numbers without a fixed width grow. The keys' bytes belong to the batch, which must outlive this
/// value.
struct KeyAscent {
    /// The least and, in `last`, the greatest key, by length and then by bytes.
    let first: UnsafeRawBufferPointer
    private(set) var last: UnsafeRawBufferPointer
    /// The greatest key in the order of bytes alone; it need not be the last.
    private(set) var greatestByBytes: UnsafeRawBufferPointer

    init(_ key: UnsafeRawBufferPointer) {
        (first, last, greatestByBytes) = (key, key, key)
    }

    /// Adds the keys that follow; `false` if they do not ascend.
    mutating func append(_ next: KeyAscent) -> Bool {
        guard KeyMaxima.isAbove(next.first, byLength: last) else { return false }
        last = next.last
        if KeyMaxima.isAbove(next.greatestByBytes, byBytes: greatestByBytes) { greatestByBytes = next.greatestByBytes }
        return true
    }
}
