import JSON

extension ValueText {
    /// Whether both values are the same, as `StoredJSON.isSame` decides.
    @inline(__always)
    func isSame(as other: ValueText) -> Bool {
        if isCanonical, other.isCanonical { return bytes.isSame(other.bytes) }
        return StoredJSON.areSame(bytes, other.bytes)
    }
}
