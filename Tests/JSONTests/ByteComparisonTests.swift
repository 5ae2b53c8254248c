import Testing

@testable import JSON

/// Words that reach back over compared bytes decide as a comparison byte by byte does.
@Suite struct ByteComparisonTests {
    private static func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { here in right.withUnsafeBytes { here.isSame($0) } }
    }

    @Test(arguments: 0...40)
    func anyOtherByteIsSeen(_ count: Int) {
        let bytes = (0..<count).map { UInt8($0 + 1) }
        #expect(Self.areSame(bytes, Array(bytes)))
        #expect(!Self.areSame(bytes, bytes + [0]))
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 0x80
            #expect(!Self.areSame(bytes, other))
            #expect(!Self.areSame(other, bytes))
        }
    }

    @Test func aNameIsFoundByItsBytes() {
        let names: [StaticString] = [
            "", "d", "op", "ids", "data", "table", "schema", "payload", "messages", "old_record",
        ]
        for name in names {
            for other in names {
                let text = UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
                let isSame = name.description == other.description
                #expect((JSONText(bytes: text, hasEscapes: false) == name) == isSame)
            }
        }
    }
}
