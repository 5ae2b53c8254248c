import EventLog
import Testing

@Suite struct Hash256Tests {
    /// What is given in pieces is hashed by Crypto, what is given at once by the processor, where it can.
    private static func hashInPieces(_ bytes: [UInt8]) -> Hash256 {
        var hasher = Hasher256()
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// Every length over some blocks, cut into head and rest at places that the fast way takes, and beyond.
    @Test func everyLengthAndCutGivesTheSameHash() {
        let bytes = (0..<400).map { UInt8(truncatingIfNeeded: $0 * 31 + 7) }
        for count in 0...bytes.count {
            let expected = Self.hashInPieces(Array(bytes[..<count]))
            for cut in [0, 1, 16, 55, 56, 63, 64, 70] where cut <= count {
                let hash = bytes[..<count].withUnsafeBytes { raw in
                    Hasher256.hash(
                        UnsafeRawBufferPointer(rebasing: raw[..<cut]),
                        UnsafeRawBufferPointer(rebasing: raw[cut...])
                    )
                }
                #expect(hash == expected, "\(count) bytes cut at \(cut)")
            }
        }
    }

    @Test func aLongMessageGivesTheSameHash() {
        let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        #expect(Hasher256.hash(bytes) == Self.hashInPieces(bytes))
    }

    /// FIPS 180-4's own example.
    @Test func theExampleOfTheStandardIsRight() {
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(Hasher256.hash(Array("abc".utf8)).hex == hex)
    }
}
