import Foundation
import Synchronization
import TestSupport

@testable import EventLog

/// Flips bits of one file of a log, one at a time, in copies of the log, and counts what became of each flip.
struct BitFlips {
    /// What became of the flips.
    struct Tally: Sendable {
        var tried = 0
        var reported = 0
        /// Not reported, nothing read differs, and the map says that nobody reads the bit.
        var dead: [PageMap.Use: Int] = [:]
        /// Not reported, though the map says that the byte is read, or something read differs.
        var silent: [String] = []

        var summary: String {
            let uses = PageMap.Use.allCases.compactMap { use in dead[use].map { "\(use) \($0)" } }
            return "\(tried) bits tried, \(reported) reported, \(dead.values.reduce(0, +)) dead "
                + "(\(uses.joined(separator: ", "))), \(silent.count) silent"
        }

        mutating func add(_ other: Tally) {
            tried += other.tried
            reported += other.reported
            dead.merge(other.dead, uniquingKeysWith: +)
            silent += other.silent
        }
    }

    /// What a check says of one flip.
    enum Answer {
        case reported, same, different
    }

    let log: String
    /// The flipped file, from the log's directory.
    let file: String
    let seed: UInt64

    static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    /// Flips every bit in the long form, else a sample of them, and all of some ranges of bytes and of the lists of free
    /// pages.
    ///
    /// - Parameter ask: judges the log at a path, one bit of which is flipped.
    func run(
        sample: Int,
        always: [Range<Int>] = [],
        ask: @Sendable (_ path: String) throws -> Answer
    ) throws -> Tally {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(log)/\(file)")))
        let map = PageMap(try first(original))
        let lists = map.uses.indices.filter { map.uses[$0] == .freeList }.map { $0..<$0 + 1 }
        let bits = bits(count: original.count * 8, sample: sample, always: always + lists)
        let result = Mutex((tally: Tally(), error: (any Error)?.none))
        DispatchQueue.concurrentPerform(iterations: 2) { part in
            let share = bits[bits.count * part / 2..<bits.count * (part + 1) / 2]
            do {
                let tally = try run(share, original, map, ask)
                result.withLock { $0.tally.add(tally) }
            } catch {
                result.withLock { $0.error = error }
            }
        }
        return try result.withLock { result in
            if let error = result.error { throw error }
            return result.tally
        }
    }

    private func bits(count: Int, sample: Int, always: [Range<Int>]) -> [Int] {
        if Self.isLong { return Array(0..<count) }
        var random = SeededGenerator(seed: seed)
        let chosen = (0..<sample).map { _ in Int.random(in: 0..<count, using: &random) }
        return Set(chosen + always.flatMap { ($0.lowerBound * 8)..<($0.upperBound * 8) }).sorted()
    }

    private func run(
        _ bits: ArraySlice<Int>,
        _ original: [UInt8],
        _ map: PageMap,
        _ ask: (String) throws -> Answer
    ) throws -> Tally {
        let copy = try TemporaryDirectory()
        let path = copy.path("L")
        try FileManager.default.copyItem(atPath: log, toPath: path)
        let place = "\(path)/\(file)"
        var tally = Tally()
        for bit in bits {
            if Self.isLong, tally.tried.isMultiple(of: 50_000) {
                print("\(file): \(tally.tried) of \(bits.count) bits")
            }
            var bytes = try prepared(original, in: path)
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            try write(bytes, to: place)
            let use = map.uses[bit / 8]
            tally.tried += 1
            switch try ask(path) {
            case .reported: tally.reported += 1
            case .same where use == .freeList && PageMap(bytes).freePages.isSubset(of: map.freePages),
                .same where use != .live && use != .freeList:
                tally.dead[use, default: 0] += 1
            case .same: tally.silent.append("byte \(bit / 8) bit \(bit % 8) is live and nothing was reported")
            case .different: tally.silent.append("byte \(bit / 8) bit \(bit % 8) (\(use)) changes what is read")
            }
        }
        return tally
    }

    private func first(_ original: [UInt8]) throws -> [UInt8] {
        let copy = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: log, toPath: copy.path("L"))
        return try prepared(original, in: copy.path("L"))
    }

    /// The file as it is flipped: a cache is made to belong to the place of the copy, or nothing would look into it.
    private func prepared(_ original: [UInt8], in path: String) throws -> [UInt8] {
        guard file.hasPrefix("cache-") else { return original }
        let place = "\(path)/\(file)"
        try write(original, to: place)
        try DerivedStore.claim(URL(fileURLWithPath: place).deletingLastPathComponent().path)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: place)))
    }

    /// The folder of a cache may have been removed by the check before.
    private func write(_ bytes: [UInt8], to place: String) throws {
        let folder = URL(fileURLWithPath: place).deletingLastPathComponent()
        if !FileManager.default.fileExists(atPath: folder.path) {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
        guard let handle = FileHandle(forUpdatingAtPath: place) else {
            return try Data(bytes).write(to: URL(fileURLWithPath: place))
        }
        try handle.write(contentsOf: bytes)
        try handle.close()
    }
}
