import Testing

@testable import Ingest

@Suite struct UTF8TextTests {
    @Test(
        arguments: [
            ([0x61, 0x62], [0x61, 0x62]),
            ([0x61, 0xFF, 0x62], Array("a%FFb".utf8)),
            ([0xC3], Array("%C3".utf8)),
            ([0xED, 0xA0, 0x80], Array("%ED%A0%80".utf8)),
            ([0xC0, 0x80], Array("%C0%80".utf8)),
            ([0xF4, 0x90, 0x80, 0x80], Array("%F4%90%80%80".utf8)),
            ([0xE2, 0x82, 0xAC, 0xE2, 0x82], Array("€%E2%82".utf8)),
            (Array("0123456789abcdef".utf8) + [0x80], Array("0123456789abcdef%80".utf8)),
        ] as [([UInt8], [UInt8])]
    )
    func bytesThatAreNoTextArePercentEncoded(bytes: [UInt8], encoded: [UInt8]) {
        let result = UTF8Text.percentEncodingFaults(bytes)
        #expect(result.bytes == encoded)
        #expect(result.changed == (bytes != encoded))
        #expect(String(validating: result.bytes, as: UTF8.self) != nil)
        #expect(UTF8Text.restoringFaults(result.bytes) == bytes)
    }

    /// No two paths are written alike, and each can be read back. A path without a fault stays as it is.
    @Test func pathsAreEncodedSoThatTheyStayApart() {
        let pieces: [[UInt8]] = [
            [0xE9], Array("%E9".utf8), Array("%e9".utf8), Array("%25E9".utf8), Array("%41".utf8), Array("%".utf8),
            Array("25".utf8), Array("é/".utf8),
        ]
        var known: [[UInt8]: [UInt8]] = [:]
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    let path = a + b + c
                    let (bytes, isEncoded) = UTF8Text.percentEncodingPath(path)
                    if !isEncoded {
                        #expect(bytes == path)
                        continue
                    }
                    #expect(UTF8Text.restoringPath(bytes) == path)
                    #expect(known.updateValue(path, forKey: bytes) ?? path == path)
                }
            }
        }
        #expect(UTF8Text.percentEncodingPath(Array("%E9/".utf8) + [0xE9]).bytes == Array("%25E9/%E9".utf8))
    }
}
