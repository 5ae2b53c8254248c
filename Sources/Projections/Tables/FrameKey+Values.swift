import JSON

extension FrameKey {
    /// The hash of an object without its members of one name: that of its canonical text, so equal for objects that are the
    /// same as JSON. The bytes must be a valid JSON text. Cost: that of `CanonicalText`.
    ///
    /// - Throws: `JSONError` for bytes that are no object.
    func hash(
        ofObject bytes: UnsafeRawBufferPointer,
        without omitted: StaticString
    ) throws(JSONError) -> UInt128 {
        var text = CanonicalText(byteCount: bytes.count)
        try text.write(object: bytes, without: omitted)
        return text.withBytes { hash($0) }
    }
}
