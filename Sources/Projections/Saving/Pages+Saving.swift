/// Saved as the elements' bytes lie in memory, for states that only the same build reads on the same machine, by a `StateEncoder`.
/// `Element` must have no padding.
extension Pages: Codable {
    /// Reads the elements; bytes of a last one that is cut short are left out.
    init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? StateDecoder else {
            let fault = DecodingError.Context(
                codingPath: decoder.codingPath,
                debugDescription: "this is no saved state"
            )
            throw DecodingError.dataCorrupted(fault)
        }
        let stride = MemoryLayout<Element>.stride
        try decoder.readBlock { bytes in
            for index in 0..<bytes.count / stride {
                append(bytes.loadUnaligned(fromByteOffset: index * stride, as: Element.self))
            }
        }
    }

    /// Writes the elements page by page, without a copy of them all.
    func encode(to encoder: any Encoder) throws {
        assert(MemoryLayout<Element>.size == MemoryLayout<Element>.stride, "no byte between two elements is undefined")
        guard let encoder = encoder as? StateEncoder else {
            let fault = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "this is no saved state"
            )
            throw EncodingError.invalidValue(count, fault)
        }
        encoder.writeNumber(UInt64(count * MemoryLayout<Element>.stride))
        forEachPage { encoder.writeBytes($0) }
    }
}
