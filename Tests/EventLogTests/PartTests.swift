import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct PartTests {
    private static let substitute = Array("[redacted]".utf8)

    private func log(_ count: Int) throws -> TemporaryLog {
        try TemporaryLog((1...count).map { try .sample($0, key: $0 % 3 == 0 ? nil : "key \($0)") })
    }

    /// One redacted event, and some that a compaction dropped.
    private func worn(_ count: Int) throws -> TemporaryLog {
        let log = try log(count)
        var plan = try RewritePlan.dropping([], decidedAt: SequenceNumber(UInt64(count)))
        plan.substitutes = [SequenceNumber(4): Self.substitute]
        let name = RewritePlan.name(ofSubstitute: Self.substitute, for: SequenceNumber(4))
        plan.act.payload = Array("{\"redacted\":[{\(name)}]}".utf8)
        _ = try log.store.rewrite(plan)
        _ = try log.store.rewrite(.dropping((30...60).map { UInt64($0) }, decidedAt: SequenceNumber(UInt64(count))))
        return log
    }

    private func part(of store: EventStore, _ chosen: Set<UInt64>) throws -> (header: LogHeader, pieces: [LogPiece]) {
        try store.read { session in
            var pieces: [LogPiece] = []
            try session.forEachPiece(where: { chosen.contains($0.sequence.rawValue) }) { pieces.append($0) }
            return (try session.partHeader(), pieces)
        }
    }

    @discardableResult
    private func load(_ part: (header: LogHeader, pieces: [LogPiece]), into path: String) throws -> ImportResult {
        try EventStore.importLog(at: path, header: part.header) { log in
            for piece in part.pieces { try log.add(piece) }
        }
    }

    /// What a part never had is not lost. What a damaged one had, is.
    @Test(arguments: [5, 256, 700])
    func whatAPartNeverHadIsNotLost(count: Int) throws {
        let log = try log(count)
        let chosen = Set((1...UInt64(count)).filter { $0 % 3 == 1 })
        let part = try part(of: log.store, chosen)
        let path = log.directory.path("part")
        try load(part, into: path)
        let sound = try EventStore.salvage(path, to: log.directory.path("sound"), now: Timestamp(seconds: 1))
        #expect(sound.lost.isEmpty && sound.doubts.isEmpty && sound.keepsIdentity)
        #expect(sound.held == UInt64(chosen.count) && sound.missing == UInt64(count - chosen.count))
        #expect(sound.dropped == 0 && sound.root == part.header.root)
        let same = try EventStore.open(at: log.directory.path("sound"))
        #expect(try same.read { try $0.isPart() })
        #expect(try same.verify().isIntact && same.verify().root == part.header.root)
        #expect(same.identity == log.store.identity)

        let file = URL(filePath: path + "/gen-000001/data.mdb")
        var data = try Data(contentsOf: file)
        // No other payload contains this one.
        let hit = SequenceNumber(count < 100 ? 4 : 100)
        let payload = try #require(try log.store.read { try $0.event(at: hit)?.payload })
        while let place = data.range(of: Data(payload)) { data[place.lowerBound] ^= 1 }
        try data.write(to: file)
        let hurt = try EventStore.salvage(path, to: log.directory.path("hurt"), now: Timestamp(seconds: 1))
        #expect(hurt.lost == [hit...hit])
        #expect(hurt.missing == sound.missing && hurt.held == sound.held - 1)
        #expect(try EventStore.open(at: log.directory.path("hurt")).verify().isIntact)
    }

    /// A part with acts and a redacted event is salvaged with them.
    @Test func aPartWithActsIsSalvagedAsItIs() throws {
        let log = try worn(300)
        let part = try part(of: log.store, [4, 10, 200])
        let path = log.directory.path("part")
        try load(part, into: path)
        let report = try EventStore.salvage(path, to: log.directory.path("sound"), now: Timestamp(seconds: 1))
        #expect(report.isComplete && report.keepsIdentity && report.root == part.header.root)
        #expect(try EventStore.open(at: log.directory.path("sound")).verify().redacted == 1)
    }

    @Test(arguments: [1, 2, 5, 255, 256, 257, 700], 1...4 as ClosedRange<UInt64>)
    func eachEventOfAnyPartIsProvedUnderTheRootOfTheWhole(count: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let log = try log(count)
        let share = [3, 20, 50, 97][Int(seed) - 1]
        let chosen = Set((1...UInt64(count)).filter { _ in Int.random(in: 0..<100, using: &random) < share })
        let part = try part(of: log.store, chosen)
        let path = log.directory.path("part")
        let result = try load(part, into: path)
        #expect(result.appended == UInt64(chosen.count) && result.missing == UInt64(count - chosen.count))
        let copy = try EventStore.open(at: path)
        let report = try copy.verify()
        #expect(report.isIntact && report.missing == result.missing && report.whole == result.appended)
        #expect(report.root == part.header.root)
        #expect(try copy.read { try $0.isPart() } == (chosen.count < count))
        try copy.read { session in
            for sequence in chosen {
                let place = SequenceNumber(sequence)
                let proof = try session.inclusionProof(of: place, size: UInt64(count))
                let whole = try log.store.read { try $0.inclusionProof(of: place, size: UInt64(count)) }
                #expect(proof == whole)
                #expect(try session.event(at: place) == log.store.read { try $0.event(at: place) })
            }
            for sequence in 1...UInt64(count) where !chosen.contains(sequence) {
                #expect(try session.event(at: SequenceNumber(sequence)) == nil)
                _ = try session.clock(at: SequenceNumber(sequence))
                _ = try session.prefixHash(through: SequenceNumber(sequence))
            }
        }
        let again = try self.part(of: copy, Set(1...UInt64(count)))
        #expect(again.pieces.map { "\($0)" } == part.pieces.map { "\($0)" })
    }

    @Test func aPartOfAWornLogKeepsTheActsOfItsSubstitutes() throws {
        let log = try worn(300)
        let part = try part(of: log.store, [3, 4, 40, 61])
        let path = log.directory.path("part")
        try load(part, into: path)
        let copy = try EventStore.open(at: path)
        let report = try copy.verify()
        #expect(report.isIntact && report.redacted == 1 && report.dropped == 0 && report.whole == 4)
        #expect(try copy.read { try $0.event(at: SequenceNumber(4))?.payload } == Self.substitute)
        #expect(try copy.read { try $0.actRedacting(SequenceNumber(4)) } == SequenceNumber(301))
        #expect(try copy.read { try $0.fact("state") } == nil)
        var forged = part
        forged.header.acts.removeFirst()
        #expect(throws: EventLogError.self) { try load(forged, into: log.directory.path("forged")) }
    }

    @Test func aPartIsNotWrittenTo() throws {
        let log = try log(20)
        let path = log.directory.path("part")
        try load(part(of: log.store, [3]), into: path)
        let copy = try EventStore.open(at: path)
        #expect(throws: EventLogError.self) { try copy.append([.sample(1, key: "new")]) }
        #expect(throws: EventLogError.self) {
            try copy.append([], bookmark: Bookmark(source: SourceName("test"), bytes: [1]))
        }
        #expect(throws: EventLogError.self) { try copy.rewrite(.dropping([3], decidedAt: SequenceNumber(20))) }
        #expect(try copy.verify().isIntact)
    }

    @Test func behindItsPrefixAPartMakesTheWholeLog() throws {
        let log = try log(300)
        let path = log.directory.path("copy")
        try load(part(of: log.store, Set(1...300)), into: path)
        let copy = try EventStore.open(at: path)
        #expect(try !copy.read { try $0.isPart() })
        _ = try log.store.append((1...40).map { try .sample($0, key: "more \($0)") })
        let rest = try part(of: log.store, Set(301...340))
        #expect(try load(rest, into: path) == ImportResult(appended: 40, duplicates: 300))
        #expect(try copy.verify() == log.store.verify().inGeneration(2))
        #expect(try copy.append([.sample(3, key: "more 3")]).sequences.map(\.rawValue) == [303])
        #expect(try load(part(of: log.store, [7]), into: path) == ImportResult(appended: 0, duplicates: 340))
        _ = try log.store.append((1...40).map { try .sample($0, key: "yet more \($0)") })
        #expect(try load(part(of: log.store, Set(341...350)), into: path).missing == 30)
        #expect(try copy.read { try $0.isPart() })
    }

    @Test(arguments: [0, 40])
    func aWholeLogCompletesAPart(more: Int) throws {
        let log = try log(700)
        let path = log.directory.path("copy")
        let chosen: Set<UInt64> = [1, 2, 258, 300, 699]
        try load(part(of: log.store, chosen), into: path)
        let copy = try EventStore.open(at: path)
        if more > 0 { _ = try log.store.append((1...more).map { try .sample($0, key: "more \($0)") }) }
        let result = try load(whole(log.store), into: path)
        let expected = ImportResult(appended: UInt64(695 + more), duplicates: 5, first: SequenceNumber(3))
        #expect(result == expected)
        #expect(try !copy.read { try $0.isPart() })
        #expect(try copy.verify() == log.store.verify().inGeneration(2))
        #expect(try copy.append([.sample(3, key: "new")]).appended == 1)
    }

    @Test func aPartIsCompletedOnlyByTheSameLog() throws {
        let log = try log(700)
        let path = log.directory.path("copy")
        try load(part(of: log.store, [1, 300]), into: path)
        let copy = try EventStore.open(at: path)
        let before = try copy.verify()
        var other = try whole(log.store)
        // The same leaves but for one, which the part lacks.
        guard case .event(let event) = other.pieces[399], let salt = event.salt else { return }
        let payload = Array("other".utf8)
        let commitment = RecordedEvent.commitment(salt: salt, payload: payload)
        func altered(_ leafHash: Hash256) -> RecordedEvent {
            RecordedEvent(
                envelope: event.envelope,
                payload: payload,
                salt: salt,
                commitment: commitment,
                leafHash: leafHash
            )
        }
        other.pieces[399] = .event(altered(MerkleTree.leafHash(altered(commitment).leaf)))
        let hashes = other.pieces.compactMap { piece in
            if case .event(let event) = piece { event.leafHash } else { nil }
        }
        other.header.root = MerkleTree.root(of: hashes)
        let error = #expect(throws: EventLogError.self) { try load(other, into: path) }
        #expect(error?.description.contains("fork at sequence 385, or within the 127 behind it") == true)
        // A whole log that ends among the events that the part lacks.
        let short = try self.log(350)
        var prefix = try whole(short.store)
        prefix.header.identity = other.header.identity
        let cut = #expect(throws: EventLogError.self) { try load(prefix, into: path) }
        #expect(cut?.sequence != nil)
        #expect(try copy.verify() == before)
        // The log has dropped an event that the part holds.
        _ = try log.store.rewrite(.dropping([300], decidedAt: SequenceNumber(700)))
        let lost = #expect(throws: EventLogError.self) { try load(whole(log.store), into: path) }
        #expect(lost?.sequence == SequenceNumber(300))
        #expect(try copy.verify() == before)
    }

    private func whole(_ store: EventStore) throws -> (header: LogHeader, pieces: [LogPiece]) {
        try store.read { session in
            var pieces: [LogPiece] = []
            try session.forEachPiece { pieces.append($0) }
            return (try session.header(), pieces)
        }
    }

    @Test func behindAForkOrAHoleNothingIsTaken() throws {
        let log = try log(300)
        let path = log.directory.path("copy")
        try load(part(of: log.store, Set(1...300)), into: path)
        let copy = try EventStore.open(at: path)
        _ = try copy.append([.sample(1, key: "here")])
        _ = try log.store.append((1...40).map { try .sample($0, key: "more \($0)") })
        let before = try copy.verify()
        let fork = #expect(throws: EventLogError.self) { try load(part(of: log.store, Set(301...340)), into: path) }
        #expect(fork?.sequence == SequenceNumber(301) && fork?.description.contains("fork at sequence 301") == true)
        let hole = #expect(throws: EventLogError.self) { try load(part(of: log.store, [340]), into: path) }
        #expect(hole?.sequence == SequenceNumber(302))
        #expect(try copy.verify() == before)
    }
}

extension VerifyReport {
    fileprivate func inGeneration(_ number: UInt32) -> VerifyReport {
        var report = self
        report.generation = number
        return report
    }
}
