import EventLog
import TestSupport
import Testing

@testable import Projections

/// Packed entries and cells come back as they were written, and any other bytes do no harm.
@Suite struct PackedEntryCodingTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func entriesComeBackAsTheyWereWritten(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let entries = (0..<200).map { _ in Self.entry(&random, isEdited: .random(using: &random)) }
        var writer = PackedEntryWriter()
        for entry in entries { writer.add(entry) }
        writer.bytes.withUnsafeBytes { bytes in
            var reader = PackedEntryReader(bytes)
            for entry in entries { #expect(reader.entry().map(Self.bytes) == Self.bytes(entry)) }
            #expect(reader.isAtEnd)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func cellsComeBackWithTheirPlaces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let cells = (0..<200).map { _ in Self.cell(&random) }
        var writer = PackedEntryWriter()
        for (place, cell) in cells.enumerated() { writer.add(cell, at: place * place) }
        writer.bytes.withUnsafeBytes { bytes in
            var reader = PackedEntryReader(bytes)
            for (place, cell) in cells.enumerated() {
                #expect(reader.place() == UInt32(place * place))
                #expect(reader.cell().map(Self.bytes) == Self.bytes(cell))
            }
            #expect(reader.isAtEnd)
        }
    }

    @Test func anyBytesAreReadToTheirEnd() {
        var random = SeededGenerator(seed: 7)
        var writer = PackedEntryWriter()
        for _ in 0..<50 { writer.add(Self.cell(&random)) }
        var loaded = 0
        for _ in 0..<2000 {
            let bytes = PlainTraffic.mutated(writer.bytes, &random)
            bytes.withUnsafeBytes { bytes in
                var reader = PackedEntryReader(bytes)
                while !reader.isAtEnd, reader.cell() != nil {}
                reader = PackedEntryReader(bytes)
                while !reader.isAtEnd, reader.entry() != nil {}
                var loader = MessageStoreLoader()
                // What they point to is not there.
                if (try? loader.take(.cells, bytes)) != nil { loaded += 1 }
            }
        }
        #expect(loaded < 100)
    }

    private static func entry(_ random: inout SeededGenerator, isEdited: Bool) -> PackedEntry {
        var version = PackedVersion.none
        version.createdAt = PackedTime(saved: .random(in: .min ... .max, using: &random))
        if isEdited { version.editedAt = PackedTime(saved: .random(in: .min...0, using: &random)) }
        if .random(using: &random) { version.replyTo = EntityID(saved: .random(in: 0 ... .max, using: &random)) }
        version.author = .random(in: 0 ... .max, using: &random)
        if .random(using: &random), let text = text(&random) { version.text = text }
        return PackedEntry(
            happening: PackedHappening(saved: .random(in: 0 ... .max, using: &random)),
            recordedAt: .random(in: .min ... .max, using: &random),
            version: version,
            previous: .random(using: &random) ? .random(in: 0 ... .max, using: &random) : 0
        )
    }

    private static func cell(_ random: inout SeededGenerator) -> MessageCell {
        var cell = MessageCell(
            id: EntityID(saved: .random(in: 0 ... .max, using: &random)),
            channel: .random(in: 0 ... .max, using: &random),
            form: .random(using: &random) ? .packed : .record,
            standing: MessageCell.Standing(rawValue: .random(in: 0...2, using: &random)) ?? .live
        )
        if .random(using: &random) { cell.last = .random(in: 0 ... .max, using: &random) }
        if .random(using: &random) {
            let entry = entry(&random, isEdited: false)
            _ = cell.put(entry.happening, recordedAt: entry.recordedAt, entry.version)
        }
        return cell
    }

    private static func text(_ random: inout SeededGenerator) -> PooledText? {
        PooledText(
            position: .random(in: 0..<1 << 38, using: &random),
            count: .random(in: 1...UInt64(TextPool.countMax), using: &random),
            flags: .random(in: 0...3, using: &random)
        )
    }

    private static func bytes(_ value: some BitwiseCopyable) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}
