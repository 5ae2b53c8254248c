/// The keys of a batch where each is above the one before: a recorder's own numbers are.
///
/// If the first of them is above all that are held, so are all others, and none of them is there twice. The order is that
/// of length, then bytes, as numbers without a fixed width grow. The keys' bytes belong to the batch.
struct KeyAscent {
    let first: UnsafeRawBufferPointer
    private(set) var last: UnsafeRawBufferPointer
    /// The greatest in the order of bytes alone.
    private(set) var greatestByBytes: UnsafeRawBufferPointer

    init(_ key: UnsafeRawBufferPointer) {
        (first, last, greatestByBytes) = (key, key, key)
    }

    /// Adds what comes behind; `false` where it does not ascend.
    mutating func append(_ next: KeyAscent) -> Bool {
        guard KeyMaxima.isAbove(next.first, byLength: last) else { return false }
        last = next.last
        if KeyMaxima.isAbove(next.greatestByBytes, byBytes: greatestByBytes) { greatestByBytes = next.greatestByBytes }
        return true
    }
}
