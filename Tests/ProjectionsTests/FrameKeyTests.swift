import EventLog
import JSON
import TestSupport
import Testing

@testable import Projections

/// Two frames are taken for one only if all their bytes are the same.
@Suite struct FrameKeyTests {
    /// Two frames with one `s` whose hashes by the fixed keys of earlier versions are the same. Each step of that hash
    /// multiplied two neighbouring words, each with something known added: exchange them, and the product is the same.
    private static func colliding() throws -> [[UInt8]] {
        let key: UInt64 = 0x9E37_79B9_7F4A_7C15
        let rest =
            #"","id":"9","channel_id":"7","author_id":"5","created_at":"2026-03-01T12:00:00Z"},"#
            + #""op":0,"t":"MESSAGE_CREATE"}"#
        for number in 10_000_000..<10_100_000 {
            // One stretch of 32 bytes, the two words to exchange, and what both frames end with.
            let start = Array(#"{"s":\#(number),"d":{"content":".."#.utf8)
            let count = start.count + 16 + rest.utf8.count
            let words = start.withUnsafeBytes { ($0.word(0), $0.word(8)) }
            let product = (words.0 ^ key).multipliedFullWidth(by: words.1 ^ key ^ UInt64(count))
            let difference = product.high ^ product.low ^ key
            guard start.count == 32, difference & 0x8080_8080_8080_8080 == 0, let first = plain(difference, 0),
                let second = plain(difference, 1)
            else { continue }
            let contents = [[first, second], [second ^ difference, first ^ difference]]
            return contents.map { words in
                start + words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
                    + Array(rest.utf8)
            }
        }
        throw NotFound()
    }

    private struct NotFound: Error {}

    /// Eight letters that are letters, too, once they differ by so much.
    private static func plain(_ difference: UInt64, _ skipped: Int) -> UInt64? {
        var word: UInt64 = 0
        for place in 0..<8 {
            let mask = UInt8(truncatingIfNeeded: difference >> UInt64(8 * place))
            let letters = (UInt8(0x20)...0x7E).filter { isPlain($0) && isPlain($0 ^ mask) }
            guard letters.count > skipped else { return nil }
            word |= UInt64(letters[skipped]) << UInt64(8 * place)
        }
        return word
    }

    private static func isPlain(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C }

    @Test func theSecondOfTwoFramesThatWereMadeToCollideCounts() throws {
        let frames = try Self.colliding()
        try #require(frames[0] != frames[1])
        let hashes = frames.map { $0.withUnsafeBytes { FastHash($0) } }
        try #require(hashes[0].high == hashes[1].high && hashes[0].low == hashes[1].low)
        var scene = RecordedGateway()
        for frame in frames { scene.receive(String(decoding: frame, as: UTF8.self)) }
        let content = try JSONValue.parse(frames[1])["d"]?["content"]?.string
        #expect(scene.column("content", of: .messages) == [content])
        #expect(scene.issues.isEmpty)
    }

    @Test func aPlainFrameThatWasMadeToCollideCountsToo() throws {
        let frames = try Self.colliding()
        var logState = LogState()
        for (index, frame) in frames.enumerated() {
            let envelope = Envelope(
                sequence: SequenceNumber(UInt64(index + 1)),
                recordedAt: Timestamp(seconds: Int64(index)),
                source: try SourceName("guild"),
                kind: try EventKind("gateway.frame/1"),
                attributes: try Attributes([Attributes.Pair(name: "dir", value: "in")])
            )
            try frame.withUnsafeBytes { bytes in
                try #require(PlainFrame(envelope, payload: bytes) != nil)
                logState.apply(envelope, payload: bytes)
            }
        }
        let content = try #require(try JSONValue.parse(frames[1])["d"]?["content"]?.string)
        let state = logState.document().canonicalText
        #expect(state.contains(String(decoding: JSONValue.string(content).canonicalBytes, as: UTF8.self)))
    }

    @Test func aHashDependsOnTheKeyAlone() {
        let frame = Array(repeating: UInt8(7), count: 3000)
        let hashes = [[1], [1], [2], []].map { identity in frame.withUnsafeBytes { FrameKey(identity).hash($0) } }
        #expect(hashes[0] == hashes[1])
        #expect(Set(hashes).count == 3)
    }

    /// Around the ends of words and stretches: every length, and every byte changed.
    @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 1023, 1024, 1025, 1040, 2047, 2048, 2049])
    func everyByteAndTheLengthCount(count: Int) {
        let key = FrameKey([9])
        var bytes = [UInt8](repeating: 0, count: count)
        var hashes = [hash(bytes, key), hash(bytes + [0], key)]
        for place in bytes.indices where count < 100 || place % 37 == 0 || place > count - 10 {
            bytes[place] = 0x80
            hashes.append(hash(bytes, key))
            bytes[place] = 1
            hashes.append(hash(bytes, key))
            bytes[place] = 0
        }
        #expect(Set(hashes).count == hashes.count)
        #expect(hashes.allSatisfy { $0 < UInt128(1) << 127 })
    }

    private func hash(_ bytes: [UInt8], _ key: FrameKey) -> UInt128 { bytes.withUnsafeBytes { key.hash($0) } }

    @Test func productsAreThoseOfTheSchoolbook() {
        var random = SeededGenerator(seed: 3)
        let modulus: UInt128 = (1 << 127) - 1
        for number in 0..<200 {
            let key = FrameKey([UInt8(number)])
            var left = UInt128(random.next() >> 1) << 64 | UInt128(random.next())
            if number < 4 { left = [0, 1, modulus, modulus + 1][number] }
            // Doubling and adding, bit by bit.
            var (expected, addend, rest): (UInt128, UInt128, UInt128) = (0, key.point, left % modulus)
            while rest > 0 {
                if rest & 1 == 1 { expected = (expected + addend) % modulus }
                addend = addend * 2 % modulus
                rest >>= 1
            }
            #expect(key.multiplied(left) % modulus == expected)
        }
    }

    @Test func framesOfAnEarlierProgramsFactsArePassedOver() throws {
        let facts = try JSONValue.parse(
            #"{"settled":"9","holes":[],"connections":[{"name":"a","start":"1","greatest":4,"last":5,"#
                + #""seen":[[4,"1f.2e","9"]]}]}"#
        )
        var connections = try GatewayConnections(facts: facts)
        let isRepeat = [UInt8](repeating: 1, count: 20).withUnsafeBytes {
            connections.isRepeat(4, $0, on: "a", at: SequenceNumber(10))
        }
        #expect(!isRepeat)
    }
}
