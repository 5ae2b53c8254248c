import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct LogBirthTests {
    @Test func nothingIsNoLog() throws {
        let directory = try TemporaryDirectory()
        #expect(codeOfOpening(directory.path("absent")) == .noLog)
        #expect(codeOfOpening(directory.url.path) == .noLog)
        #expect(!FileManager.default.fileExists(atPath: directory.path("absent")))
    }

    @Test func aFileIsNoLog() throws {
        let directory = try TemporaryDirectory()
        try Data("text".utf8).write(to: URL(fileURLWithPath: directory.path("file")))
        #expect(codeOfOpening(directory.path("file")) == .noLog)
        let error = #expect(throws: EventLogError.self) { try EventStore.openOrCreate(at: directory.path("file")) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func aForeignDirectoryIsLeftAlone() throws {
        let directory = try TemporaryDirectory()
        try Data("text".utf8).write(to: URL(fileURLWithPath: directory.path("notes.txt")))
        let error = #expect(throws: EventLogError.self) { try EventStore.openOrCreate(at: directory.url.path) }
        #expect(error?.code == .invalidArgument)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["notes.txt"])
    }

    @Test func aBirthThatWasCutShortIsEnded() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        let identity: [UInt8]
        do {
            let store = try EventStore.openOrCreate(at: path)
            _ = try store.append([.sample(1)])
            identity = store.identity
        }
        try FileManager.default.removeItem(atPath: path + "/FORMAT")
        #expect(codeOfOpening(path) == .noLog)
        let store = try EventStore.openOrCreate(at: path)
        #expect(store.identity == identity)
        #expect(try store.read { $0.head } == SequenceNumber(1))
    }

    @Test func aNewerFormatIsRefusedNamingTheVersionThatReadsIt() throws {
        let log = try TemporaryLog(name: "L")
        let other = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: log.path, toPath: other.path("L"))
        let text = "eventlog 3\nidentity 00\nreader 7.8.9\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: other.path("L/FORMAT")))
        let error = #expect(throws: EventLogError.self) { try EventStore.open(at: other.path("L")) }
        #expect(error?.code == .newerFormat)
        #expect(error?.description.contains("7.8.9") == true)
    }

    @Test(arguments: ["", "eventlog", "eventlog x\n", "eventlog 1\n", "eventlog 1\nidentity zz\n", "\0\u{ff}"])
    func aFormatThatCannotBeReadIsDamage(text: String) throws {
        let directory = try TemporaryDirectory()
        do { _ = try EventStore.openOrCreate(at: directory.path("L")) }
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path("L/FORMAT")))
        #expect(codeOfOpening(directory.path("L")) == .damaged)
    }

    @Test(arguments: [0, 100, 4096, 8192])
    func aTruncatedDataFileIsAnErrorAndNoCrash(count: Int) throws {
        let directory = try TemporaryDirectory()
        do {
            let store = try EventStore.openOrCreate(at: directory.path("L"))
            _ = try store.append((1...50).map { try .sample($0) })
        }
        let file = directory.path("L/gen-000001/data.mdb")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try bytes.prefix(count).write(to: URL(fileURLWithPath: file))
        #expect(codeOfOpening(directory.path("L")) != nil)
    }

    @Test func logsHaveDifferentIdentitiesAndOnlyTheirOwnerEnters() throws {
        let one = try TemporaryLog()
        let two = try TemporaryLog()
        #expect(one.store.identity != two.store.identity)
        #expect(one.store.identity.count == 16)
        let attributes = try FileManager.default.attributesOfItem(atPath: one.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    private func codeOfOpening(_ path: String) -> EventLogError.Code? {
        do {
            _ = try EventStore.open(at: path).read { $0.head }
            return nil
        } catch {
            return (error as? EventLogError)?.code
        }
    }
}
