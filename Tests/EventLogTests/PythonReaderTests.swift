import EventLog
import Foundation
import TestSupport
import Testing

/// Another program reads a log by `docs/format.md` alone: `docs/reader.py`, with Debian's python3-lmdb.
@Suite struct PythonReaderTests {
    @Test(.enabled(if: PythonReader.isInstalled, "it needs python3-lmdb"))
    func theReaderFindsTheSameRoot() throws {
        let log = try Self.log()
        #expect(try PythonReader.run([log.path]) == expected(of: log))
    }

    @Test(.enabled(if: PythonReader.isInstalled, "it needs python3-lmdb"))
    func theReaderFindsTheSameRootAfterADropOfEvents() throws {
        let log = try Self.log()
        let before = try expected(of: log)
        let dropped = (1...700 as ClosedRange<UInt64>).filter { $0 % 3 == 0 || (300...450).contains($0) }
        _ = try log.store.rewrite(.dropping(dropped, decidedAt: log.store.read { $0.head })) { _ in }
        _ = try log.store.append([.sample(9_000, key: "after")])
        #expect(try PythonReader.run([log.path]) == expected(of: log))
        #expect(try expected(of: log) != before)
    }

    @Test(.enabled(if: PythonReader.isInstalled, "it needs python3-lmdb"))
    func theReaderSeesAnAlteredByte() throws {
        let log = try Self.log()
        let file = URL(filePath: log.path + "/gen-000001/data.mdb")
        var data = try Data(contentsOf: file)
        let place = try #require(data.range(of: Data("payload 500".utf8)))
        data[place.lowerBound] ^= 1
        let copy = log.directory.path("copy.eventlog")
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        try data.write(to: URL(filePath: copy + "/gen-000001/data.mdb"))
        #expect(try PythonReader.run([copy]).contains("event 500 is not what was appended"))
    }

    /// Several lanes, keys and none, attributes, payloads of every size, more than one node of the tree.
    private static func log() throws -> TemporaryLog {
        let attributes = try Attributes([.init(name: "connection", value: "c1"), .init(name: "dir", value: "in")])
        return try TemporaryLog(
            (1...777).map { number in
                try .sample(
                    number,
                    source: number % 5 == 0 ? "é" : "test",
                    kind: number % 7 == 0 ? "status.file/1" : "gateway.frame/1",
                    key: number % 2 == 0 ? "key/\(number)" : nil,
                    attributes: number % 3 == 0 ? attributes : .none,
                    payload: number % 50 == 1 ? String(repeating: "long", count: number * 9) : nil
                )
            }
        )
    }

    private func expected(of log: TemporaryLog) throws -> String {
        try log.store.read { session in
            let root = try session.root(size: session.head.rawValue).hex
            return #"{"treeSize": "\#(session.head)", "root": "\#(root)"}"# + "\n"
        }
    }
}
