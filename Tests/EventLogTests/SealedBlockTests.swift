import Foundation
import TestSupport
import Testing

@testable import EventLog

/// Blocks of sealed events: what goes in comes out, and nothing else is believed.
@Suite struct SealedBlockTests {
    private let decompressor = BlockDecompressor()

    /// A log with many lanes, keys and none, long payloads, a redacted event and gaps, and its copy before it was sealed.
    private func logs() throws -> (open: [RecordedEvent], sealed: TemporaryLog) {
        let log = try TemporaryLog(
            (1...1_400).map { number in
                try .sample(
                    number,
                    source: number % 5 == 0 ? "é" : "test",
                    key: number % 2 == 0 ? "key/\(number)" : nil,
                    payload: number % 90 == 1 ? String(repeating: "long \(number)", count: 30_000) : nil
                )
            }
        )
        let head = try log.store.read { $0.head }
        _ = try log.store.rewrite(
            .dropping((1...1_400).filter { $0 % 7 == 3 || (500...800).contains($0) }, decidedAt: head)
        )
        let events = try log.events()
        _ = try log.store.seal(.all, now: Timestamp(seconds: 9_999))
        return (events, log)
    }

    @Test func eachEventIsReadAsBefore() throws {
        let (open, log) = try logs()
        #expect(try log.events().dropLast() == open[...])
        let statistics = try log.store.statistics()
        #expect(statistics.sealed == UInt64(open.count) && statistics.held == UInt64(open.count + 1))
        var random = SeededGenerator(seed: 3)
        try log.store.read { session in
            for event in open.shuffled(using: &random) {
                let sequence = event.envelope.sequence
                #expect(try session.event(at: sequence) == event)
                #expect(try session.leafHash(at: sequence) == event.leafHash)
                #expect(try session.holding(at: sequence) == .whole)
            }
            #expect(try session.holding(at: SequenceNumber(600)) == .dropped)
            #expect(try session.event(at: SequenceNumber(600)) == nil)
            // Ranges that begin and end within blocks and gaps.
            for _ in 0..<60 {
                let ends = [0, 1].map { _ in UInt64.random(in: 1...1_402, using: &random) }.sorted()
                var found: [RecordedEvent] = []
                try session.forEachEvent(in: SequenceNumber(ends[0])...SequenceNumber(ends[1])) {
                    found.append($0.copied())
                    return true
                }
                let expected = open.filter { (ends[0]...ends[1]).contains($0.envelope.sequence.rawValue) }
                #expect(found.filter { $0.envelope.sequence <= SequenceNumber(1_401) } == expected)
            }
        }
        #expect(try log.store.verify().isIntact)
    }

    /// A program that knows no blocks must not open the log; its copies say so too.
    @Test func theFileFormatSaysThatEventsAreSealed() throws {
        let log = try TemporaryLog((1...20).map { try .sample($0) })
        func version(_ path: String) throws -> String {
            String(try String(contentsOfFile: path + "/FORMAT", encoding: .utf8).prefix { $0 != "\n" })
        }
        _ = try log.store.seal(.all, now: Timestamp(seconds: 1), isDryRun: true, mustShrink: false)
        #expect(try version(log.path) == "eventlog 1")
        _ = try log.store.seal(.all, now: Timestamp(seconds: 1), mustShrink: false)
        #expect(try version(log.path) == "eventlog 2")
        let copy = log.directory.path("copy")
        _ = try log.store.backup(to: copy)
        #expect(try version(copy) == "eventlog 2")
        #expect(try EventStore.open(at: copy).identity == log.store.identity)
    }

    /// Keys are found in blocks: a repeat is one, and a conflict names its event.
    @Test func keysStayKnown() throws {
        let (_, log) = try logs()
        let store = try EventStore.open(at: log.path)
        let again = try store.append([.sample(2, key: "key/2"), .sample(600, source: "é", key: "key/600")])
        #expect(again.sequences.map(\.rawValue) == [2, 600] && again.appended == 0)
        let error = #expect(throws: EventLogError.self) {
            try store.append([.sample(2, key: "key/2", payload: "other")])
        }
        #expect(error?.code == .keyConflict && error?.sequence == SequenceNumber(2))
    }

    /// Threads read blocks at the same time, and more of them than are kept open.
    @Test func manyThreadsReadAtOnce() async throws {
        let (open, log) = try logs()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for seed in 1...6 as ClosedRange<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    return try open.shuffled(using: &random).prefix(150).allSatisfy { event in
                        try log.store.read { try $0.event(at: event.envelope.sequence) } == event
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    /// A part of the value is altered, cut off or made up: the block opens as it was, opens with other bytes than the leaf hashes
    /// say, or does not open; it reads nothing beyond its bytes.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func alteredBlocksAreNoOthers(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = try Self.block()
        var opened = 0
        for _ in 0..<2_000 {
            var altered = value
            switch Int.random(in: 0..<4, using: &random) {
            case 0: altered.removeLast(Int.random(in: 1...value.count, using: &random))
            case 1: altered[Int.random(in: 1..<7, using: &random)] = UInt8.random(in: 0...255, using: &random)
            default:
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    altered[Int.random(in: 0..<value.count, using: &random)] ^= UInt8.random(
                        in: 1...255,
                        using: &random
                    )
                }
            }
            let block = altered.withUnsafeBytes { SealedBlock.open($0, last: 900, with: decompressor) }
            guard let block else { continue }
            opened += 1
            #expect(block.sequences.last == 900 && block.sequences.count <= SealedBlock.countMax)
            for place in block.sequences.indices { _ = try #require(block.record(at: place)).payload.count }
        }
        // Leaf hashes and salts lie outside of the frame.
        #expect(opened > 0)
    }

    /// A frame of a few bytes that says that it expands to more than any block is not touched; one that lies about it fails.
    @Test func aBombIsRefused() throws {
        let value = try Self.block()
        let count = Int(value[1]) << 8 | Int(value[2])
        let start = 7 + 32 * count + 16 * count
        for size in [SealedBlock.payloadBytesMax, 300 << 20] {
            let frame = try BlockCompressor(level: 3).frame(of: [UInt8](repeating: 0x61, count: size))
            let bomb = Array(value[..<start]) + frame
            #expect(bomb.withUnsafeBytes { SealedBlock.open($0, last: 900, with: decompressor) } == nil)
        }
    }

    /// A block from elsewhere may say sequences that other entries have; nobody reads events out of order.
    @Test func aBlockThatBeginsTooEarlyIsDamage() throws {
        let log = try TemporaryLog((1...5).map { try .sample($0) })
        let generation = log.store.core.current
        let value = try Self.block()
        let transaction = try generation.environment.beginWrite()
        try withKey(UInt64(891)) { key in
            try value.withUnsafeBytes { try transaction.append($0, at: key, in: generation.tables.events) }
        }
        try transaction.commit()
        // 90 events, ten apart, end with 891, and so begin with 1.
        let error = #expect(throws: EventLogError.self) { try log.events() }
        #expect(error?.code == .damaged && error?.reason.contains("begins before sequence 5") == true)
        #expect(throws: EventLogError.self) { try log.store.seal(.all, now: Timestamp(seconds: 1)) }
        #expect(try !log.store.verify().isIntact)
    }

    /// A damaged page of a block costs its events; the others are saved.
    @Test func aSalvageTakesWhatBlocksHold() throws {
        let (open, log) = try logs()
        let file = URL(filePath: log.path + "/gen-000003/data.mdb")
        var data = try Data(contentsOf: file)
        let whole = log.directory.path("whole"), copy = log.directory.path("damaged")
        let report = try EventStore.salvage(log.path, to: whole, now: Timestamp(seconds: 1))
        #expect(report.lost.isEmpty && report.keepsIdentity && report.held == UInt64(open.count + 1))
        // The leaf hash of one event, which stands outside of the frame.
        let hash = try log.store.read { try $0.leafHash(at: SequenceNumber(77)) }
        let place = try #require(data.range(of: Data(hash.bytes)))
        data[place.lowerBound] ^= 1
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        try data.write(to: URL(filePath: copy + "/gen-000003/data.mdb"))
        #expect(try EventStore.verify(at: copy).damage?.sequence == SequenceNumber(77))
        let saved = try EventStore.salvage(copy, to: log.directory.path("saved"), now: Timestamp(seconds: 1))
        #expect(saved.lost == [SequenceNumber(77)...SequenceNumber(77)] && saved.held == UInt64(open.count))
    }

    private static func block() throws -> [UInt8] {
        var builder = BlockBuilder()
        for number in 1...90 {
            let payload = Array("payload \(number), which is as long as some".utf8)
            let key = Array("key \(number)".utf8)
            var bytes = [UInt8](repeating: 0, count: Record.fixedBytes + 16 + key.count + payload.count)
            let salt = [UInt8](repeating: UInt8(number), count: 16), hash = [UInt8](repeating: UInt8(number), count: 32)
            bytes.withUnsafeMutableBytes { room in
                key.withUnsafeBytes { key in
                    payload.withUnsafeBytes { payload in
                        hash.withUnsafeBytes { hash in
                            salt.withUnsafeBytes { salt in
                                Record.write(
                                    to: room,
                                    holding: .whole,
                                    lane: 0,
                                    recordedAt: Int64(number),
                                    hash: hash,
                                    secret: salt,
                                    key: key,
                                    payload: payload
                                )
                            }
                        }
                    }
                }
            }
            try bytes.withUnsafeBytes { builder.add(try #require(Record($0)), at: UInt64(number) * 10) }
        }
        return try builder.value(compressedBy: BlockCompressor(level: 3))
    }
}
