import EventLog
import JSON
import TestSupport
import Testing

@testable import Projections

/// A block of a channel's entries says again what was written into it, and any other bytes do no harm.
@Suite struct PostingListTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func framesComeBackAsTheyWereWritten(seed: UInt64) throws {
        var writer = PostingWriter()
        var expected: [String] = []
        for (number, frame) in Self.frames(seed).enumerated() {
            let sequence = SequenceNumber(UInt64(number * number + 1))
            frame.withUnsafeBytes { bytes in
                guard var plain = PlainFrameScanner.frame(bytes) else {
                    return writer.add(number % 2 == 0 ? .reference : .naming, at: sequence)
                }
                plain.counter = nil
                let at = Timestamp(microseconds: Int64(number) * -977_777 + 1_770_000_000_000_000)
                writer.add(plain, EventReference(sequence: sequence, recordedAt: at))
                expected.append(Self.text(plain, EventReference(sequence: sequence, recordedAt: at)))
            }
        }
        var found: [String] = []
        writer.bytes.withUnsafeBytes { bytes in
            var reader = PostingReader(bytes, channel: EntityID(number: 9) ?? .none)
            while let entry = reader.next() {
                if entry == .plain { found.append(Self.text(reader.frame, reader.event)) }
            }
            #expect(!reader.isMalformed)
        }
        #expect(found == expected)
        #expect(found.count > 20)
    }

    @Test func anyBytesAreReadToTheirEnd() {
        var random = SeededGenerator(seed: 5)
        var writer = PostingWriter()
        for (number, frame) in Self.frames(3).enumerated() {
            frame.withUnsafeBytes { bytes in
                guard let plain = PlainFrameScanner.frame(bytes) else { return }
                let sequence = SequenceNumber(UInt64(number) + 1)
                writer.add(plain, EventReference(sequence: sequence, recordedAt: Timestamp(seconds: 7)))
            }
        }
        for _ in 0..<2000 {
            let bytes = PlainTraffic.mutated(writer.bytes, &random)
            var fold = ChannelFold(.logtool, channel: "9")
            _ = bytes.withUnsafeBytes { fold.addShared($0, through: SequenceNumber(.max)) }
            bytes.withUnsafeBytes { bytes in
                var reader = PostingReader(bytes, channel: fold.channel)
                while let entry = reader.next() {
                    if entry == .plain { _ = Self.text(reader.frame, reader.event) }
                }
            }
        }
    }

    private static func frames(_ seed: UInt64) -> [[UInt8]] {
        var traffic = PlainTraffic(seed: seed)
        return (0..<60).map { _ in Array(traffic.frame().utf8) }
    }

    private static func text(_ frame: PlainFrame, _ event: EventReference) -> String {
        let texts = [frame.authorName?.string ?? "-", frame.content.string, frame.happening == .written ? "+" : "-"]
        let ids = [frame.id, frame.guild].map { String($0.rawValue) } + [String(frame.author)]
        let times = [frame.createdAt, frame.editedAt].map { String($0.rawValue) }
        let isWrite = frame.happening == .written
        let rest = PackedRest(frame.rest)
        let extra = [JSONValue.array(rest.attachments ?? []).canonicalText, JSONValue.object(rest.extra).canonicalText]
        let written = isWrite ? [ids[2]] + times + texts + extra : []
        let all = [event.sequence.description, event.recordedAt.description, ids[0], ids[1], texts[2]] + written
        return all.joined(separator: " ")
    }
}
