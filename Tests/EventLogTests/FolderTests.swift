import EventLog
import Foundation
import TestSupport
import Testing

/// What stands around the data: lock files in every state, and other ways to say the same path. What permissions do is
/// tested with `logtool` (`LogPermissionTests`), which can be another user.
@Suite struct FolderTests {
    let log: TemporaryLog

    init() throws {
        log = try TemporaryLog(try (1...20).map { try .sample($0, key: "key \($0)") })
    }

    /// A copy of the log that nobody has open, with other bytes as its lock file; `nil`: with none.
    private func copy(lockFile: Data?) throws -> (directory: TemporaryDirectory, path: String) {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        try FileManager.default.copyItem(atPath: log.path, toPath: path)
        let file = URL(filePath: path + "/gen-000001/lock.mdb")
        try FileManager.default.removeItem(at: file)
        try lockFile?.write(to: file)
        return (directory, path)
    }

    private func expectUsable(_ path: String) throws {
        #expect(try EventStore.verify(at: path).isIntact)
        let store = try EventStore.open(at: path)
        #expect(try store.append([.sample(7, key: "key 7"), .sample(21, key: "key 21")]).appended == 1)
        #expect(try store.read { $0.head } == SequenceNumber(21))
        #expect(try store.statistics().readers == 0)
        #expect(try store.verify().isIntact)
    }

    @Test func aMissingLockFileIsMadeAnew() throws {
        let (directory, path) = try copy(lockFile: nil)
        try withExtendedLifetime(directory) { try expectUsable(path) }
    }

    @Test(arguments: [0, 1, 63, 64, 4096, 100_000])
    func aLockFileOfGarbageIsMadeAnew(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let garbage = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
        let (directory, path) = try copy(lockFile: garbage)
        try withExtendedLifetime(directory) { try expectUsable(path) }
    }

    /// As a process leaves it that was killed, or a machine that lost its power: with a reader in a slot.
    @Test func aLockFileThatWasLeftBehindIsMadeAnew() throws {
        let left = try log.store.read { _ in
            try Data(contentsOf: URL(filePath: log.path + "/gen-000001/lock.mdb"))
        }
        let (directory, path) = try copy(lockFile: left)
        try withExtendedLifetime(directory) { try expectUsable(path) }
    }

    /// As `left`, but with the process that held it in the slot changed to one that cannot be.
    @Test func slotsOfProcessesThatAreGoneAreFree() throws {
        var left = try log.store.read { _ in
            try Data(contentsOf: URL(filePath: log.path + "/gen-000001/lock.mdb"))
        }
        let own = withUnsafeBytes(of: getpid()) { Data($0) }
        let gone = withUnsafeBytes(of: Int32.max - 1) { Data($0) }
        var count = 0
        while let place = left.range(of: own) {
            left.replaceSubrange(place, with: gone)
            count += 1
        }
        try #require(count > 0)
        let (directory, path) = try copy(lockFile: left)
        try withExtendedLifetime(directory) { try expectUsable(path) }
    }

    @Test func aMissingWriteLockAndSourcesAreMadeAnew() throws {
        let (directory, path) = try copy(lockFile: nil)
        for name in ["write.lock", "sources"] { try? FileManager.default.removeItem(atPath: "\(path)/\(name)") }
        try withExtendedLifetime(directory) {
            try expectUsable(path)
            _ = try EventStore.open(at: path).acquireSourceLock(SourceName("test"))
        }
    }

    /// One environment, whatever the path says: LMDB would lose its locks where a second one is closed.
    @Test func everyWayToSayThePathOpensTheSameLog() throws {
        let link = log.directory.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: log.path)
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        let relative = String(repeating: "../", count: depth) + log.path.dropFirst()
        let paths = [link, link + "/", log.path + "/.", log.path + "//", relative]
        let stores = try paths.map { try EventStore.open(at: $0) }
        try log.store.read { session in
            #expect(session.head == SequenceNumber(20))
            for (number, store) in stores.enumerated() {
                _ = try store.append([.sample(100 + number, key: "by \(number)")])
                #expect(try log.store.read { $0.head } == SequenceNumber(UInt64(21 + number)))
                #expect(try store.statistics().readers == 1, "\(paths[number])")
            }
            #expect(session.head == SequenceNumber(20))
        }
        #expect(try log.store.verify().isIntact)
    }

    @Test func aLinkToAFolderThatIsNotThereIsNoLog() throws {
        let link = log.directory.path("dangling")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: log.directory.path("nothing"))
        let error = #expect(throws: EventLogError.self) { try EventStore.open(at: link) }
        #expect(error?.code == .noLog)
    }
}
