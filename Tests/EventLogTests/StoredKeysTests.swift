import EventLog
import Foundation
import TestSupport
import Testing

/// Keys that no longer stand in memory: sorted runs in the derived store, which may be missing, damaged or of another log.
@Suite struct StoredKeysTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("L") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Opens the log anew, as another process would: nobody holds it in between.
    private func open(keysInMemory: Int = 50) throws -> EventStore {
        var options = EventStore.Options()
        options.keysInMemory = keysInMemory
        return try EventStore.openOrCreate(at: path, options: options)
    }

    private func drafts(_ numbers: some Sequence<Int>, payload: String? = nil) throws -> [DraftEvent] {
        try numbers.map { try .sample($0, key: "key \($0 &* 7919 % 10_007)", payload: payload) }
    }

    /// Appends in batches of 20 and waits until the runs are written.
    private func fill(_ range: Range<Int>) throws {
        let store = try open()
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 20) {
            _ = try store.append(drafts(start..<min(start + 20, range.upperBound)))
        }
        try store.drainDerivedData()
    }

    /// Every key of the range is held once, at the place of its first append; in the other order, so that no lookup is
    /// helped by the one before.
    private func expectHeld(_ range: Range<Int>, in store: EventStore) throws {
        let again = try store.append(drafts(range.reversed()))
        #expect(again.appended == 0)
        #expect(again.sequences.map(\.rawValue) == range.reversed().map { UInt64($0 + 1) })
    }

    private var cache: String { path + "/cache-000001" }

    @Test func keysOfManyRunsAreFoundByANewProcess() throws {
        try fill(0..<3000)
        #expect(FileManager.default.fileExists(atPath: cache + "/data.mdb"))
        try expectHeld(0..<3000, in: open())
        let store = try open()
        #expect(try store.append(drafts(3000..<3010)).appended == 10)
        #expect(try store.append(drafts([2999, 3010, 5])).sequences.map(\.rawValue) == [3000, 3011, 6])
    }

    @Test func aConflictIsFoundInARun() throws {
        try fill(0..<1000)
        let error = #expect(throws: EventLogError.self) {
            try open().append(drafts([1000, 400], payload: "other"))
        }
        #expect(error?.code == .keyConflict && error?.sequence == SequenceNumber(401))
        #expect(try open().append(drafts([1000])).sequences.map(\.rawValue) == [1001])
    }

    @Test func withoutTheCacheEveryAnswerIsTheSame() throws {
        try fill(0..<1000)
        try FileManager.default.removeItem(atPath: cache)
        try expectHeld(0..<1000, in: open())
    }

    @Test(arguments: [0, 1, 4096, 4097, 8200, 12_300, 16_400, 20_480, 24_600, 40_000])
    func aDamagedCacheIsThrownAway(offset: Int) throws {
        try fill(0..<1000)
        let file = try FileHandle(forUpdating: URL(filePath: cache + "/data.mdb"))
        let size = Int(try file.seekToEnd())
        // A whole stretch: some of it is used.
        let start = offset % size
        for place in stride(from: start, to: min(start + 4096, size), by: 64) {
            try file.seek(toOffset: UInt64(place))
            let byte = try file.read(upToCount: 1)?.first ?? 0
            try file.seek(toOffset: UInt64(place))
            try file.write(contentsOf: [byte ^ 0x10])
        }
        try file.close()
        try expectHeld(0..<1000, in: open())
        #expect(try open().verify().isIntact)
    }

    @Test func aCacheThatWasCutOffIsThrownAway() throws {
        try fill(0..<1000)
        #expect(truncate(cache + "/data.mdb", 12_288) == 0)
        try expectHeld(0..<1000, in: open())
    }

    @Test func theCacheOfALogThatWentOnOtherwiseIsNotUsed() throws {
        try fill(0..<300)
        let saved = directory.path("saved")
        try FileManager.default.copyItem(atPath: path, toPath: saved)
        try fill(300..<600)
        // The log goes back to an earlier state, as from a copy, and takes another way; the cache stays.
        try FileManager.default.removeItem(atPath: path + "/gen-000001")
        try FileManager.default.copyItem(atPath: saved + "/gen-000001", toPath: path + "/gen-000001")
        #expect(try open().append(drafts(450..<900)).sequences.map(\.rawValue) == Array(301...750))
        try expectHeld(0..<300, in: open())
    }

    @Test func aRewriteTakesTheCacheWithIt() throws {
        try fill(0..<600)
        do {
            let store = try open()
            _ = try store.rewrite(.dropping((1...400).map { $0 }, decidedAt: SequenceNumber(600)))
            #expect(!FileManager.default.fileExists(atPath: cache))
            try expectHeld(0..<600, in: store)
        }
        try expectHeld(0..<600, in: open())
    }

    @Test func keysThatGrowAreRememberedWhenTheyComeAgain() throws {
        do {
            let store = try open()
            for start in stride(from: 0, to: 1000, by: 20) {
                _ = try store.append((start..<start + 20).map { try .sample($0, key: "\($0)") })
            }
            try store.drainDerivedData()
        }
        let store = try open()
        for number in [999, 998, 0, 9, 10, 99, 100, 500] {
            let again = try store.append([.sample(number, key: "\(number)")])
            #expect(again.sequences.map(\.rawValue) == [UInt64(number + 1)])
        }
        #expect(try store.append([.sample(1, key: "1000")]).appended == 1)
    }

    @Test func aCacheThatCannotBeWrittenFailsNoAppend() throws {
        // A file stands where the directory would be made.
        _ = try open()
        #expect(FileManager.default.createFile(atPath: cache, contents: nil))
        try fill(0..<1000)
        try expectHeld(0..<1000, in: open())
    }

    // MARK: - Two processes

    private static let childVariable = "EVENTLOG_KEYS_TEST_LOG"

    /// What a child process runs: appends the same keys as its sibling in an order of its own.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[childVariable] != nil))
    func appendsAllKeys() throws {
        let parts = try #require(ProcessInfo.processInfo.environment[Self.childVariable]).split(separator: "|")
        var options = EventStore.Options()
        options.keysInMemory = 40
        let store = try EventStore.open(at: String(parts[0]), options: options)
        let factor = try #require(Int(parts[1]))
        for start in stride(from: 0, to: 2003, by: 7) {
            let numbers = (start..<min(start + 7, 2003)).map { $0 * factor % 2003 }
            _ = try store.append(numbers.map { try .sample($0, key: "key \($0)") })
        }
    }

    @Test func twoProcessesFindEachOthersKeys() throws {
        _ = try open()
        let children = try [5, 1999, 777].map { factor in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--testing-library", "swift-testing", "--filter", "StoredKeysTests/appendsAllKeys"]
            process.environment = ProcessInfo.processInfo.environment
                .merging([Self.childVariable: "\(path)|\(factor)"]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            return process
        }
        for child in children {
            child.waitUntilExit()
            #expect(child.terminationStatus == 0)
        }
        let store = try open()
        try store.read { session in
            #expect(session.head == SequenceNumber(2003))
            var keys: Set<String> = []
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                keys.insert(event.key?.rawValue ?? "")
                return true
            }
            #expect(keys.count == 2003)
        }
        #expect(try store.verify().isIntact)
    }
}
