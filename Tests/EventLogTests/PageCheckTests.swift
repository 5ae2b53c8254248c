import Foundation
import TestSupport
import Testing

@testable import EventLog

/// The check of pages accepts what LMDB itself makes (I24): `docs/format.md`, "The pages".
@Suite struct PageCheckTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private let directory: TemporaryDirectory
    private let environment: Environment
    private let folder: Folder

    init() throws {
        directory = try TemporaryDirectory()
        folder = try Folder(at: directory.path(""))
        environment = try Environment(folder: folder, tables: ["a", "b", "c"], access: .create, pages: .own)
    }

    private func write(_ body: (borrowing WriteTransaction, [Table]) throws -> Void) throws {
        let transaction = try environment.beginWrite()
        try body(transaction, environment.tables)
        try transaction.commit()
    }

    private func check(isGrown: Bool = false) throws {
        let file = try DataFile(in: folder)
        try PageCheck.checkBeforeOpening(file)
        try PageCheck.run(file, isGrown: isGrown)
    }

    /// The number of the first page of a table's only value, which must be a large one.
    private func firstPage(of value: [UInt8]) throws -> Int {
        let bytes = try Data(contentsOf: URL(filePath: directory.path("data.mdb")))
        let place = try #require(bytes.range(of: Data(value)))
        return (place.lowerBound - 16) / 4096
    }

    private func overwrite(_ bytes: [UInt8], at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: directory.path("data.mdb")))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: bytes)
        try file.close()
    }

    private func damage() -> String? {
        do {
            try check()
            return nil
        } catch {
            return (error as? PageCheck.Damage)?.reason
        }
    }

    /// LMDB writes the second value into the pages of the first, and keeps their number.
    @Test(arguments: [(100_000, 3_000), (100_000, 20), (9_000, 0), (70_000, 69_000), (5_000, 90_000)])
    func aValueThatWasReplacedWithinItsTransactionIsAccepted(first: Int, second: Int) throws {
        try write { transaction, tables in
            for count in [first, second] {
                try transaction.putSummed([UInt8](repeating: 7, count: count), at: [1], in: tables[0])
            }
        }
        try check(isGrown: true)
        // The value is replaced and removed with all of its pages.
        try write { transaction, tables in try transaction.putSummed([1], at: [1], in: tables[0]) }
        try check(isGrown: true)
        try write { transaction, tables in try [1].withUnsafeBytes { try transaction.remove($0, from: tables[0]) } }
        try check()
    }

    @Test func aTableWhoseLastEntryWentIsAccepted() throws {
        for count in [1, 3_000] {
            try write { transaction, tables in
                for number in 0..<count {
                    try transaction.putSummed(Array(repeating: 1, count: 300), at: key(number), in: tables[1])
                }
            }
            try write { transaction, tables in
                for number in 0..<count {
                    try key(number).withUnsafeBytes { try transaction.remove($0, from: tables[1]) }
                }
            }
            try check()
        }
    }

    private func key(_ number: Int) -> [UInt8] { withKey(UInt64(number)) { Array($0) } }

    /// A value with more pages than it needs must have them for itself, within the file.
    @Test func pagesThatBelongToNoValueAreRefused() throws {
        let value = Array(repeating: UInt8(7), count: 9_000)
        try write { transaction, tables in
            for table in tables { try transaction.putSummed(value, at: [1], in: table) }
        }
        try check(isGrown: true)
        let count = try firstPage(of: value) * 4096 + 12
        for pages in [2, 4, 9, UInt32.max] {
            try overwrite(withUnsafeBytes(of: pages) { Array($0) }, at: count)
            let reason = try #require(damage(), "\(pages) pages")
            if pages == 2 { #expect(reason.contains("it does not begin a value of 9008 bytes")) }
            if pages == .max { #expect(reason.contains("its value has pages behind the last page")) }
        }
        try overwrite(withUnsafeBytes(of: 3 as UInt32) { Array($0) }, at: count)
        try check(isGrown: true)
    }

    /// So does `mdb_copy -c -n`.
    @Test func aFileThatAnEnvironmentWithoutAFolderMadeIsAccepted() throws {
        try write { transaction, tables in try transaction.putSummed([1], at: [1], in: tables[0]) }
        // The flags of the free list in both meta pages.
        for page in 0...1 { try overwrite([0x08, 0x40], at: page * 4096 + 44) }
        try check(isGrown: true)
        try overwrite([0x08, 0x00], at: 44)
        #expect(damage() == "the two meta pages do not fit")
        for page in 0...1 { try overwrite([0x09, 0x00], at: page * 4096 + 44) }
        #expect(damage() == "a tree has strange flags")
    }

    /// Random transactions: values of every size come, change, change again and go; readers that stay open let the list of
    /// free pages grow over pages of its own. With an odd seed nothing is removed, as from the tables of a log.
    @Test(arguments: 1...(isLong ? 100 : 6) as ClosedRange<UInt64>)
    func everyStateThatLMDBCommitsIsAccepted(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var numbers: [Set<UInt8>] = [[], [], []]
        func key(_ number: UInt8, _ table: Int) -> [UInt8] {
            Array(repeating: number, count: 1 + Int(number) % (table == 0 ? 8 : 400))
        }
        var reader: ReadTransaction?
        for round in 0..<(Self.isLong ? 400 : 50) {
            if Int.random(in: 0..<8, using: &random) == 0 { reader = try environment.beginRead() }
            if Int.random(in: 0..<16, using: &random) == 0 { reader = nil }
            try write { transaction, tables in
                for _ in 0..<Int.random(in: 1...60, using: &random) {
                    let table = Int.random(in: 0..<3, using: &random)
                    let old = numbers[table].sorted().randomElement(using: &random)
                    if let old, seed % 2 == 0, Bool.random(using: &random) {
                        try key(old, table).withUnsafeBytes { try transaction.remove($0, from: tables[table]) }
                        numbers[table].remove(old)
                        continue
                    }
                    let number = UInt8.random(in: 0..<250, using: &random)
                    let limit = [40, 2_500, 90_000].randomElement(using: &random) ?? 40
                    let value = [UInt8](repeating: number, count: Int.random(in: 0...limit, using: &random))
                    try transaction.putSummed(value, at: key(number, table), in: tables[table])
                    numbers[table].insert(number)
                }
                guard seed % 2 == 0, round % 20 == 19 else { return }
                for number in numbers[1] {
                    try key(number, 1).withUnsafeBytes { try transaction.remove($0, from: tables[1]) }
                }
                numbers[1] = []
            }
            #expect(throws: Never.self, "seed \(seed), commit \(round)") { try check(isGrown: seed % 2 == 1) }
        }
        _ = reader
    }

    /// What earlier programs left: a fact that was written twice in one transaction.
    @Test func aLogWhoseFactsWereWrittenTwiceOpensAnywhere() throws {
        let log = try TemporaryLog((1...300).map { try .sample($0, key: "key \($0)") })
        let fact = Array(repeating: UInt8(3), count: 3_000)
        _ = try log.store.rewrite(
            .dropping((1...200).map { $0 }, decidedAt: SequenceNumber(300), facts: ["state": fact])
        )
        let generation = log.store.core.current
        do {
            let transaction = try generation.environment.beginWrite()
            let large = Array(repeating: UInt8(9), count: 100_000)
            for value in [large, fact] {
                try transaction.putSummed(value, at: Array("state".utf8), in: generation.tables.facts)
            }
            try transaction.commit()
        }
        try expectHealthy(log.store, "written twice")
        // It goes on as any other log.
        _ = try log.store.append([.sample(301, key: "after")])
        _ = try log.store.rewrite(.dropping([201], decidedAt: SequenceNumber(302), facts: ["state": [1, 2, 3]]))
        try expectHealthy(log.store, "compacted again")
    }

    /// Batches that arrive together share a transaction.
    @Test func bookmarksOfOneTransactionTakeTheRoomOfTheLast() throws {
        let directory = try TemporaryDirectory()
        var options = EventStore.Options()
        options.durability = .fast
        let store = try EventStore.openOrCreate(at: directory.path("L"), options: options)
        let sources = try [SourceName("a"), SourceName("b")]
        for count in [100_000, 40, 70_000, 30] {
            for source in sources {
                _ = try store.append([], bookmark: Bookmark(source: source, bytes: Array(repeating: 5, count: count)))
            }
        }
        try store.flush()
        try expectHealthy(store, "bookmarks")
        let pages = try store.core.current.read { try $0.view.statistics(of: $0.tables.bookmarks).pages }
        #expect(pages == 1)
        for source in sources {
            let bookmark = try store.read { try $0.bookmark(of: source) }
            #expect(bookmark == Array(repeating: 5, count: 30))
        }
    }

    /// A new generation is checked like a file from elsewhere before anything refers to it.
    @Test func aRewriteWhosePagesAreNotWellFormedTakesNoEffect() throws {
        let log = try TemporaryLog((1...300).map { try .sample($0, key: "key \($0)") })
        let fact = (0..<9_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let plan = try RewritePlan.dropping([1, 2], decidedAt: SequenceNumber(300), facts: ["state": fact])
        let error = #expect(throws: EventLogError.self) {
            try log.store.rewrite(plan) { _ in
                let path = "\(log.path)/gen-000002/data.mdb"
                let place = try #require(Data(contentsOf: URL(filePath: path)).range(of: Data(fact)))
                let file = try FileHandle(forUpdating: URL(filePath: path))
                try file.seek(toOffset: UInt64(place.lowerBound - 4))
                try file.write(contentsOf: [1])
                try file.close()
            }
        }
        #expect(error?.code == .damaged, "\(String(describing: error))")
        #expect(error?.reason.contains("of the new gen-000002/data.mdb: it does not begin a value") == true)
        #expect(try log.events().count == 300)
        #expect(try FileManager.default.contentsOfDirectory(atPath: log.path).contains("gen-000002") == false)
        try expectHealthy(log.store, "left as it was")
        _ = try log.store.rewrite(plan)
        try expectHealthy(log.store, "rewritten")
    }
}
