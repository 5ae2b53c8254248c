import Foundation
import TestSupport
import Testing

@testable import EventLog

/// What a rewrite, a birth or an import leaves that was killed at some moment does not count.
@Suite struct LeftoverTests {
    /// What lies in the log's folder beside the log.
    enum Leftover: String, CaseIterable {
        case emptyFolder, lockOnly, emptyData, onePage, halfOfTheData, wholeButUnreached, ofADiscarded, ofABirth,
            ofACache

        func put(in log: String) throws {
            let manager = FileManager.default
            func make(_ name: String, _ files: [String: Data]) throws {
                try manager.createDirectory(atPath: "\(log)/\(name)", withIntermediateDirectories: false)
                for (file, data) in files { try data.write(to: URL(filePath: "\(log)/\(name)/\(file)")) }
            }
            let data = try Data(contentsOf: URL(filePath: log + "/gen-000001/data.mdb"))
            let next = "gen-000002"
            switch self {
            case .emptyFolder: try make(next, [:])
            case .lockOnly: try make(next, ["lock.mdb": Data(count: 65_664)])
            case .emptyData: try make(next, ["data.mdb": Data(), "lock.mdb": Data(count: 65_664), "checked": Data()])
            case .onePage: try make(next, ["data.mdb": data.prefix(4096)])
            case .halfOfTheData: try make(next, ["data.mdb": data.prefix(data.count / 2)])
            case .wholeButUnreached: try make(next, ["data.mdb": data])
            case .ofADiscarded: try make("gone-000003", ["data.mdb": Data(count: 100)])
            case .ofABirth: try make("birth-99999999-1", ["lock.mdb": Data()])
            case .ofACache: try make("birth-cache-99999999-1", ["place": Data(), "data.mdb": Data()])
            }
        }
    }

    @Test(arguments: Leftover.allCases)
    func aLogWithWhatAKilledRewriteLeftIsWhole(leftover: Leftover) throws {
        let log = try TemporaryLog((1...600).map { try .sample($0, key: "key/\($0)") })
        let root = try log.store.verify().root
        let copy = log.directory.path("copy")
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        try leftover.put(in: copy)
        let report = try EventStore.verify(at: copy)
        #expect(report.isIntact && report.root == root, "\(report.damage?.description ?? "")")
        let salvage = try EventStore.salvage(copy, to: log.directory.path("saved"), now: Timestamp(seconds: 1))
        #expect(salvage.isComplete && salvage.root == root, "\(salvage.doubts)")
        let store = try EventStore.open(at: copy)
        #expect(try store.verify().isIntact)
        #expect(try store.backup(to: log.directory.path("backup")).root == root)
        _ = try store.append([.sample(601)])
        // The next rewrite removes it.
        _ = try store.rewrite(.dropping([3], decidedAt: SequenceNumber(601)))
        #expect(try EventStore.verify(at: copy).isIntact)
        let names = try FileManager.default.contentsOfDirectory(atPath: copy)
        #expect(names.filter { $0.hasPrefix("gen-") } == ["gen-000002"])
    }

    /// The rewrite took effect, and its process was killed before it removed the old generation.
    @Test(arguments: [false, true])
    func aGenerationThatIsReachedCounts(isDamaged: Bool) throws {
        let log = try TemporaryLog((1...600).map { try .sample($0, key: "key/\($0)") })
        let copy = log.directory.path("copy")
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        try refer(from: copy, to: 2)
        _ = try log.store.rewrite(.dropping([3], decidedAt: SequenceNumber(600)))
        try FileManager.default.copyItem(atPath: log.path + "/gen-000002", toPath: copy + "/gen-000002")
        let file = URL(filePath: copy + "/gen-000002/data.mdb")
        let data = try Data(contentsOf: file)
        if isDamaged { try data.prefix(data.count / 2).write(to: file) }
        let report = try EventStore.verify(at: copy)
        #expect(report.isIntact == !isDamaged && report.generation == 2)
        if !isDamaged { #expect(report.head == SequenceNumber(601)) }
    }

    /// Makes the first generation of a log name the one that took its place.
    private func refer(from path: String, to number: UInt32) throws {
        let generation = try Generation.open(
            directory: LogDirectory(Folder(at: path)),
            number: 1,
            lanes: LaneInterner()
        )
        let transaction = try generation.environment.beginWrite()
        try transaction.putMeta(withKey(number) { Array($0) }, named: MetaName.successor, in: generation.tables.meta)
        try transaction.commit()
    }
}
