#if Recorders
import EventLog
import NIOCore
import TestSupport
import Testing

@testable import Ingest

@Suite struct SocketMessageReaderTests {
    /// The messages of RFC 7692, section 7.2.3.
    @Test func aSharedWindowIsKept() {
        var reader = SocketMessageReader(inflater: Inflater(.raw(windowBits: 15)), forgetsWindow: false)
        let bytes: [UInt8] = [
            0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00,
        ]
        let found = read(bytes.map { [$0] }, &reader)
        #expect(found == [Found(bytes: Array("Hello".utf8), end: 9), Found(bytes: Array("Hello".utf8), end: 16)])
        #expect(!reader.isLost)
    }

    /// However the bytes come, the messages are the same, and so is where each ends.
    @Test func messagesAreTheSameHoweverTheBytesAreCut() {
        for round in 0..<10 {
            let seed = 20_261_130 + UInt64(round)
            var generator = SeededGenerator(seed: seed)
            let (bytes, expected) = Self.traffic(&generator)
            var reader = SocketMessageReader(inflater: nil, forgetsWindow: false)
            let most = bytes.count < 3_000 ? 1 : [400, 5_000, bytes.count].randomElement(using: &generator) ?? 1
            #expect(read(Self.cut(bytes, most, &generator), &reader) == expected, "seed \(seed)")
            #expect(!reader.isLost, "seed \(seed)")
        }
    }

    @Test(
        arguments: [
            [0x91, 0x01, 0x61],  // an extension that nobody agreed on
            [0xC1, 0x01, 0x61],  // compressed, where nothing may be
            [0x80, 0x01, 0x61],  // the rest of a message that did not begin
            [0x01, 0x01, 0x61, 0x81, 0x01, 0x62],  // a message within another
            [0x83, 0x01, 0x61],  // an opcode that does not exist
            [0x09, 0x01, 0x61],  // a ping in pieces
            [0x81, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 1, 0x61],  // a length that no length is
        ] as [[UInt8]]
    )
    func whatIsNoWebSocketIsReadNoFurther(_ bytes: [UInt8]) {
        var reader = SocketMessageReader(inflater: nil, forgetsWindow: false)
        let found = read([[0x81, 0x01, 0x61] + bytes + [0x81, 0x01, 0x63]], &reader)
        #expect(found == [Found(bytes: [0x61], end: 3)])
        #expect(reader.isLost)
    }

    /// A message over 16 MiB in one frame, which comes in one piece.
    @Test func ofALargeMessageLengthAndHashAreKept() {
        let count = EnvelopeLimits.payloadBytesMax + 1
        let payload = [UInt8](repeating: 0x61, count: count)
        var reader = SocketMessageReader(inflater: nil, forgetsWindow: false)
        let bytes =
            [0x82, 0x7F, 0, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + payload
        var found: [KeptContent.Result] = []
        reader.push(ByteBuffer(bytes: bytes)) { event, _ in
            if case .message(let content) = event { found.append(content.kept) }
        }
        #expect(found == [.oversize(length: count, hash: Hasher256.hash(payload))])
    }

    // MARK: - Traffic

    private static let letters = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private struct Found: Equatable {
        let bytes: [UInt8]
        let end: Int
    }

    /// What a reader finds, each with its end in all bytes; of a close its code in two bytes.
    private func read(_ pieces: [[UInt8]], _ reader: inout SocketMessageReader) -> [Found] {
        var (found, before) = ([Found](), 0)
        for piece in pieces {
            reader.push(ByteBuffer(bytes: piece)) { event, end in
                switch event {
                case .message(let content):
                    guard case .whole(let bytes) = content.kept else { return }
                    found.append(Found(bytes: bytes, end: before + end))
                case .close(let code):
                    found.append(Found(bytes: [UInt8(code >> 8), UInt8(code & 0xFF)], end: before + end))
                }
            }
            before += piece.count
        }
        return found
    }

    /// Messages whole and in pieces, with a mask and without, of lengths around those where a header changes, and control
    /// frames among them.
    private static func traffic(_ generator: inout SeededGenerator) -> (bytes: [UInt8], expected: [Found]) {
        var (bytes, expected) = ([UInt8](), [Found]())
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let count =
                [0, 1, 5, 125, 126, 127, 300, 300, 300, 2_000, 65_535, 65_536].randomElement(using: &generator) ?? 0
            let payload = Array(letters[..<count])
            let opcode: UInt8 = Bool.random(using: &generator) ? 1 : 2
            if Int.random(in: 0..<4, using: &generator) > 0 {
                bytes += frame(0x80 | opcode, payload, &generator)
            } else {
                let half = Int.random(in: 0...count, using: &generator)
                bytes += frame(opcode, payload[..<half], &generator)
                bytes += frame(0x89, [1, 2, 3], &generator)
                bytes += frame(0x80, payload[half...], &generator)
            }
            expected.append(Found(bytes: payload, end: bytes.count))
            if Int.random(in: 0..<4, using: &generator) == 0 { bytes += frame(0x8A, [], &generator) }
        }
        bytes += frame(0x88, [0x03, 0xE8, 0x62], &generator)
        return (bytes, expected + [Found(bytes: [0x03, 0xE8], end: bytes.count)])
    }

    private static func frame(
        _ first: UInt8,
        _ payload: some Collection<UInt8>,
        _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let isMasked = Bool.random(using: &generator)
        let count = payload.count
        let mask = (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let (short, bytes) = count < 126 ? (count, 0) : count < 65_536 ? (126, 2) : (127, 8)
        let length = (0..<bytes).map { UInt8(truncatingIfNeeded: count >> (8 * (bytes - 1 - $0))) }
        let header = [first, UInt8(short) | (isMasked ? 0x80 : 0)] + length
        guard isMasked else { return header + payload }
        return header + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    private static func cut(_ bytes: [UInt8], _ most: Int, _ generator: inout SeededGenerator) -> [[UInt8]] {
        var (pieces, place) = ([[UInt8]](), 0)
        while place < bytes.count {
            let end = min(bytes.count, place + Int.random(in: 1...most, using: &generator))
            pieces.append(Array(bytes[place..<end]))
            place = end
        }
        return pieces
    }
}
#endif
