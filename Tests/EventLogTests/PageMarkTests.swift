import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// All pages of a data file are looked at before LMDB maps them, unless the mark beside the file covers them (I24).
@Suite struct PageMarkTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path("L")
        let store = try EventStore.openOrCreate(at: path)
        for number in 1...20 { _ = try store.append(try drafts(number)) }
    }

    private func drafts(_ number: Int) throws -> [DraftEvent] {
        try (0..<20).map { try .sample(number * 100 + $0, key: "key \(number) \($0)") }
    }

    private var generation: String { "\(path)/gen-000001" }
    private var markPath: String { "\(generation)/checked" }

    private func isCovered(_ generation: String? = nil) throws -> Bool {
        let generation = generation ?? self.generation
        let folder = try Folder(at: generation)
        return try #require(PageMark(in: folder)).covers(DataFile(in: folder))
    }

    /// Overwrites the beginning of the data file's pages from the third on, in place.
    private func damagePages(of generation: String? = nil) throws {
        let file = try FileHandle(forUpdating: URL(filePath: "\(generation ?? self.generation)/data.mdb"))
        let pages = try file.seekToEnd() / 4096
        for page in 2..<pages {
            try file.seek(toOffset: page * 4096 + 8)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 8))
        }
        try file.close()
    }

    private func damage(at path: String) -> EventLogError? {
        do {
            _ = try EventStore.open(at: path)
            return nil
        } catch {
            return error as? EventLogError
        }
    }

    @Test func theMarkFollowsEachCommit() throws {
        #expect(try isCovered())
        let store = try EventStore.open(at: path)
        for number in 21...60 {
            _ = try store.append(try drafts(number))
            #expect(try isCovered())
        }
    }

    @Test func theMarkCoversAGenerationThatARewriteMakes() throws {
        let store = try EventStore.open(at: path)
        _ = try store.rewrite(.dropping((1...200).map { $0 }, decidedAt: SequenceNumber(400)))
        #expect(try isCovered("\(path)/gen-000002"))
        #expect(try store.verify().isIntact)
    }

    @Test func theMarkCoversABackupButNoCopy() throws {
        _ = try EventStore.open(at: path).backup(to: folder.path("B"))
        #expect(try isCovered(folder.path("B/gen-000001")))
        try FileManager.default.copyItem(atPath: path, toPath: folder.path("C"))
        #expect(FileManager.default.fileExists(atPath: folder.path("C/gen-000001/checked")))
        #expect(try !isCovered(folder.path("C/gen-000001")))
        _ = try EventStore.open(at: folder.path("C"))
        #expect(try isCovered(folder.path("C/gen-000001")))
    }

    @Test func damagedPagesAreRefusedBeforeTheyAreMapped() throws {
        try damagePages()
        #expect(try !isCovered())
        let error = try #require(damage(at: path))
        #expect(error.code == .damaged)
        #expect(error.reason.contains("of gen-000001/data.mdb: "), "\(error)")
        #expect(try !isCovered())
    }

    /// What is received has another inode and another time of its last change than its mark says.
    @Test func damagedPagesOfACopyAreRefusedWhateverItsMarkSays() throws {
        let copy = folder.path("C")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try damagePages(of: "\(copy)/gen-000001")
        #expect(damage(at: copy)?.code == .damaged)
    }

    /// While `verify(at:)` runs, LMDB has mapped pages that nothing has checked. Another store of the process shares the
    /// environment, and may outlive the verification.
    @Test func aStoreBesideAVerificationChecksThePages() throws {
        let copy = folder.path("C")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let generation = "\(copy)/gen-000001"
        let data = URL(filePath: "\(generation)/data.mdb")
        var bytes = try Data(contentsOf: data)
        let event = try #require(bytes.range(of: Data("key 20 19".utf8))).lowerBound
        var options = EventStore.Options()
        options.believesPages = true
        let verified = try EventStore.open(at: copy, options: options)
        for isSound in [false, true] {
            // The number that the page of an event has of itself.
            bytes[event / 4096 * 4096] ^= 1
            let file = try FileHandle(forUpdating: data)
            try file.write(contentsOf: bytes)
            try file.close()
            #expect(damage(at: copy)?.code == (isSound ? nil : .damaged))
            #expect(try isCovered(generation) == isSound)
        }
        #expect(try verified.verify().isIntact)
    }

    @Test func aCommitDoesNotCoverWhatSomethingElseWrote() throws {
        let store = try EventStore.open(at: path)
        let file = try FileHandle(forUpdating: URL(filePath: "\(generation)/data.mdb"))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 0, count: 4096))
        try file.close()
        _ = try store.append(try drafts(70))
        #expect(try !isCovered())
        #expect(try store.verify().isIntact)
        #expect(try isCovered(), "a check of everything covers it again")
        _ = try store.append(try drafts(71))
        #expect(try isCovered())
    }

    /// Commands beside a recorder that commits all the time must not check gigabytes each.
    @Test func aCommitUnderWayDoesNotUncoverTheFile() throws {
        let writer = open(markPath, O_RDWR)
        defer { close(writer) }
        try #require(flock(writer, LOCK_EX | LOCK_NB) == 0)
        let file = try FileHandle(forUpdating: URL(filePath: "\(generation)/data.mdb"))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 0, count: 4096))
        try file.close()
        #expect(try isCovered())
        try #require(flock(writer, LOCK_UN) == 0)
        #expect(try !isCovered(), "a commit that was cut off leaves a file that is checked")
    }

    /// The lock of a mark that belongs to another file says nothing of this one.
    @Test func aHeldLockDoesNotCoverAnotherFile() throws {
        let copy = folder.path("C/gen-000001")
        try FileManager.default.copyItem(atPath: path, toPath: folder.path("C"))
        let writer = open("\(copy)/checked", O_RDWR)
        defer { close(writer) }
        try #require(flock(writer, LOCK_EX | LOCK_NB) == 0)
        #expect(try !isCovered(copy))
    }

    @Test func whatIsNoMarkOfOursIsNeitherReadNorFollowed() throws {
        try FileManager.default.removeItem(atPath: markPath)
        let target = folder.path("precious")
        try Data("precious".utf8).write(to: URL(filePath: target))
        try FileManager.default.createSymbolicLink(atPath: markPath, withDestinationPath: target)
        _ = try EventStore.open(at: path).append(try drafts(80))
        try FileManager.default.removeItem(atPath: markPath)
        try FileManager.default.linkItem(atPath: target, toPath: markPath)
        _ = try EventStore.open(at: path).append(try drafts(81))
        try FileManager.default.removeItem(atPath: markPath)
        try #require(mkfifo(markPath, 0o600) == 0)
        _ = try EventStore.open(at: path).append(try drafts(82))
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
        #expect(try EventStore.verify(at: path).whole == 23 * 20)
    }

    @Test func theCheckSaysHowFarItIs() throws {
        let copy = folder.path("C")
        let store = try EventStore.open(at: path)
        let large = String(repeating: "x", count: 4 << 20)
        for number in 1...12 { _ = try store.append([.sample(number, key: "large \(number)", payload: large)]) }
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let reports = Mutex<[(UInt64, UInt64)]>([])
        var options = EventStore.Options()
        options.progress = { work in reports.withLock { $0.append((work.done, work.total)) } }
        _ = try EventStore.open(at: copy, options: options)
        let (first, last) = try reports.withLock { (try #require($0.first), try #require($0.last)) }
        #expect(first == (32 << 20, last.1) && last.0 == last.1 && last.1 > 48 << 20)
        let count = reports.withLock { $0.count }
        _ = try EventStore.open(at: copy, options: options)
        #expect(reports.withLock { $0.count } == count, "it is checked once")
    }

    /// Each kind of work ends with a report that all is done.
    @Test func workThatTakesTimeIsReportedToItsEnd() throws {
        let ends = Mutex<[String: Bool]>([:])
        let note: StoreWorkReporter = { work in
            ends.withLock { $0["\(work.activity)"] = work.done == work.total && work.total > 0 }
        }
        var options = EventStore.Options()
        options.progress = note
        let store = try EventStore.open(at: path, options: options)
        _ = try store.verify()
        #expect(ends.withLock { $0 } == ["verifying": true])
        _ = try EventStore.salvage(path, to: folder.path("S"), now: Timestamp(seconds: 1), progress: note)
        #expect(ends.withLock { $0["salvaging"] } == true)
        _ = try store.append([.sample(9_001, key: "more")])
        _ = try store.rewrite(.dropping([1], decidedAt: try store.read { $0.head }))
        #expect(ends.withLock { $0["copying"] } == true)
        ends.withLock { $0 = [:] }
        _ = try store.backup(to: folder.path("B"))
        #expect(ends.withLock { $0["verifying"] } == true)
    }

    @Test(arguments: [
        ("gen-000001/data.mdb", "the data file gen-000001/data.mdb is missing"),
        ("gen-000001", "it has no data: no folder gen-NNNNNN is there"),
    ])
    func aMissingDataFileIsDamageInWords(removed: String, reason: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(removed)")
        let error = try #require(damage(at: path))
        #expect(error.code == .damaged && error.reason == reason)
        #expect(throws: error) { try EventStore.verify(at: path) }
    }

    @Test func aMissingSuccessorIsDamageInWords() throws {
        try nameSuccessor()
        let error = try #require(damage(at: path))
        #expect(error.code == .damaged)
        #expect(error.reason == "the generation that takes the place of gen-000001/data.mdb is missing")
    }

    private func nameSuccessor() throws {
        let generation = try EventStore.open(at: path).core.current
        let transaction = try generation.environment.beginWrite()
        try transaction.putMeta([0, 0, 0, 2], named: MetaName.successor, in: generation.tables.meta)
        try transaction.commit()
    }

    @Test(arguments: [0, 1, 100, 4096, 8191, 8192, 12_288, 40_000])
    func aDataFileThatWasCutOffIsDamageInWords(byteCount: Int) throws {
        try #require(truncate("\(generation)/data.mdb", off_t(byteCount)) == 0)
        let error = try #require(damage(at: path))
        #expect(error.code == .damaged)
        #expect(error.reason.contains("gen-000001/data.mdb"), "\(error)")
    }
}
