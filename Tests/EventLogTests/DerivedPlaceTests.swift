import Foundation
import TestSupport
import Testing

@testable import EventLog

/// What is derived from a log is believed only where it was made (I17).
@Suite struct DerivedPlaceTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("L")
    }

    private func drafts(_ numbers: some Sequence<Int>) throws -> [DraftEvent] {
        try numbers.map { try .sample($0, key: "key \($0 &* 7919 % 10_007)") }
    }

    /// A log with runs of keys, closed again.
    private func make(_ path: String) throws {
        var options = EventStore.Options()
        options.keysInMemory = 40
        let store = try EventStore.openOrCreate(at: path, options: options)
        for start in stride(from: 1, through: 200, by: 20) { _ = try store.append(drafts(start..<start + 20)) }
        try store.drainDerivedData()
    }

    private func hasDerivedData(_ path: String) throws -> Bool {
        try EventStore.open(at: path).read { try $0.existingDerivedStore() != nil }
    }

    @Test func whereItWasMadeItIsBelieved() throws {
        try make(path)
        #expect(try hasDerivedData(path))
        try FileManager.default.moveItem(atPath: path, toPath: directory.path("M"))
        #expect(try hasDerivedData(directory.path("M")), "the files are the same ones")
    }

    @Test func aCopyLeavesItBehind() throws {
        try make(path)
        let copy = directory.path("copy")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        #expect(try !hasDerivedData(copy))
        #expect(!FileManager.default.fileExists(atPath: copy + "/cache-000001"))
        #expect(try EventStore.open(at: copy).append(drafts(1..<201)).duplicates == 200)
        #expect(try hasDerivedData(path))
    }

    @Test(arguments: ["copied", "linked", "written", "missing"])
    func aPlaceThatIsAnotherIsNoOwner(fault: String) throws {
        try make(path)
        let place = path + "/cache-000001/" + FolderStamp.fileName
        switch fault {
        case "copied":
            try FileManager.default.moveItem(atPath: place, toPath: place + ".old")
            try FileManager.default.copyItem(atPath: place + ".old", toPath: place)
        case "linked": try FileManager.default.linkItem(atPath: place, toPath: directory.path("other"))
        case "written": try Data([1]).write(to: URL(filePath: place))
        default: try FileManager.default.removeItem(atPath: place)
        }
        #expect(try !hasDerivedData(path))
        #expect(try EventStore.open(at: path).append(drafts(1..<201)).duplicates == 200)
    }

    @Test func aBackupHasNone() throws {
        try make(path)
        _ = try EventStore.open(at: path).backup(to: directory.path("B"))
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path("B"))
        #expect(!names.contains { $0.hasPrefix("cache-") })
    }

    /// A log with another event at its beginning and the same last one: all but the hash of the whole prefix is the same.
    @Test func runsOfATwinAreNotUsed() throws {
        try make(path)
        let twin = directory.path("twin")
        try Twin(of: EventStore.open(at: path)).make(at: twin) { event in
            event.envelope.sequence == SequenceNumber(7) ? (try EventKey("another"), event.payload) : nil
        }
        var options = EventStore.Options()
        options.keysInMemory = 40
        do {
            let store = try EventStore.open(at: twin, options: options)
            _ = try store.append([.sample(9_000, key: "last")])
            try store.drainDerivedData()
        }
        try FileManager.default.removeItem(atPath: path + "/cache-000001")
        // Moved, not copied: the place is the same file.
        try FileManager.default.moveItem(atPath: twin + "/cache-000001", toPath: path + "/cache-000001")
        #expect(try EventStore.open(at: path).append(drafts(1..<201)).duplicates == 200)
    }

    @Test func forgedRunsAreFoundByACheck() throws {
        try make(path)
        let store = try EventStore.open(at: path)
        let before = try store.checkDerivedKeys()
        #expect(before.count > 0 && before.damage == nil)
        let table = try store.derivedStore().table(KeyRuns.tableName, version: KeyRuns.tableVersion)
        var chunk: (key: [UInt8], value: [UInt8])?
        try table.forEach(from: [KeyRuns.chunkMark]) { key, value in
            chunk = (Array(key), Array(value))
            return false
        }
        var forged = try #require(chunk)
        forged.value[forged.value.count - 1] ^= 3
        try table.put([forged])
        #expect(try store.checkDerivedKeys().damage == "the runs of keys are not what the events give")
        #expect(try store.append(drafts(1..<201)).duplicates == 200)
    }
}

/// The same log but for some events: another root, the same identity.
struct Twin {
    private let store: EventStore

    init(of store: EventStore) { self.store = store }

    /// - Parameter alter: gives an event's key and payload in the twin; `nil` where it stays.
    func make(at path: String, _ alter: (RecordedEvent) throws -> (EventKey?, [UInt8])?) throws {
        var pieces: [LogPiece] = []
        var frontier = MerkleFrontier()
        var header = try store.read { session in
            try session.forEachPiece { piece in
                guard case .event(let event) = piece else { return pieces.append(piece) }
                let other = try alter(event).map { try self.event(event, key: $0.0, payload: $0.1) } ?? event
                frontier.append(other.leafHash)
                pieces.append(.event(other))
            }
            return try session.header()
        }
        header.root = frontier.root
        _ = try EventStore.importLog(at: path, header: header) { log in for piece in pieces { try log.add(piece) } }
    }

    private func event(_ event: RecordedEvent, key: EventKey?, payload: [UInt8]) throws -> RecordedEvent {
        let old = event.envelope
        let envelope = Envelope(
            sequence: old.sequence,
            recordedAt: old.recordedAt,
            source: old.source,
            kind: old.kind,
            key: key,
            attributes: old.attributes,
            holding: old.holding
        )
        let commitment = RecordedEvent.commitment(salt: event.salt ?? [], payload: payload)
        let draft = RecordedEvent(
            envelope: envelope,
            payload: payload,
            salt: event.salt,
            commitment: commitment,
            leafHash: .zero
        )
        return RecordedEvent(
            envelope: envelope,
            payload: payload,
            salt: event.salt,
            commitment: commitment,
            leafHash: MerkleTree.leafHash(draft.leaf)
        )
    }
}
