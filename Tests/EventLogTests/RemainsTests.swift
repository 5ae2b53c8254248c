import Foundation
import TestSupport
import Testing

@testable import EventLog

/// What rewrites leave beside the events is named by hash in the last act, which the tree covers.
@Suite struct RemainsTests {
    /// Twice compacted, with facts, keys of dropped events, and a run that a tree node ends in.
    private func worn() throws -> TemporaryLog {
        let log = try TemporaryLog((1...700).map { try .sample($0, key: $0 % 3 == 0 ? nil : "key \($0)") })
        _ = try log.store.rewrite(
            .dropping(
                (1...600).filter { $0 % 50 != 0 }.map { UInt64($0) },
                decidedAt: SequenceNumber(700),
                facts: ["state": [9, 8], "other": [1]]
            )
        )
        _ = try log.store.append([.sample(5000, key: "late"), .sample(6000, source: "other", key: "late")])
        _ = try log.store.rewrite(.dropping([610, 611, 702], decidedAt: SequenceNumber(703)))
        return log
    }

    private func pieces(of store: EventStore) throws -> (LogHeader, [LogPiece]) {
        try store.read { session in
            var pieces: [LogPiece] = []
            try session.forEachPiece { pieces.append($0) }
            return (try session.header(), pieces)
        }
    }

    private func load(_ header: LogHeader, _ pieces: [LogPiece], into path: String) throws -> ImportResult {
        try EventStore.importLog(at: path, header: header) { log in
            for piece in pieces { try log.add(piece) }
        }
    }

    @Test func aLogIsProvedWithAllThatLiesBesideIt() throws {
        let log = try worn()
        let report = try log.store.verify()
        #expect(report.isIntact && report.provesRemains)
        let (header, pieces) = try pieces(of: log.store)
        let result = try load(header, pieces, into: log.directory.path("copy"))
        #expect(result.provesRemains)
        #expect(try log.store.read { try $0.fact("state") } == [9, 8])
    }

    @Test(
        arguments: [
            "fact", "fewer facts", "more facts", "no facts", "keys", "no keys", "a key's event", "earlier decision",
            "later decision", "no decision", "acts", "fewer acts", "clock", "clock at node", "rewrite",
        ]
    )
    func whatIsForgedIsRefused(part: String) throws {
        let log = try worn()
        var (header, pieces) = try pieces(of: log.store)
        func changeRun(_ change: (inout DroppedRun) -> Bool) {
            for index in pieces.indices {
                guard case .dropped(var run) = pieces[index], change(&run) else { continue }
                pieces[index] = .dropped(run)
                return
            }
            Issue.record("there is no such run")
        }
        switch part {
        case "fact": header.facts["state"] = [9, 9]
        case "fewer facts": header.facts["other"] = nil
        case "more facts": header.facts["projections/1"] = [1]
        case "no facts": header.facts = [:]
        case "earlier decision": header.decidedAt = SequenceNumber(700)
        case "later decision": header.decidedAt = SequenceNumber(704)
        case "no decision": header.decidedAt = .zero
        case "acts": header.acts = [header.acts[1], header.acts[0]]
        case "fewer acts": header.acts.removeLast()
        case "clock":
            changeRun { run in
                run.clock = Timestamp(seconds: 699)
                return true
            }
        case "clock at node":
            changeRun { run in
                guard run.clockAtNode != nil else { return false }
                run.clockAtNode = Timestamp(seconds: 900_000_000)
                return true
            }
        case "rewrite":
            changeRun { run in
                run.rewrite += 1
                return true
            }
        default:
            let place = try #require(pieces.lastIndex { if case .keys = $0 { true } else { false } })
            guard case .keys(var bytes) = pieces[place] else { return }
            switch part {
            case "keys": bytes[bytes.count - 20] ^= 1
            case "no keys": bytes = []
            default: bytes[bytes.count - 1] ^= 1
            }
            if bytes.isEmpty { pieces.remove(at: place) } else { pieces[place] = .keys(bytes) }
        }
        let error = #expect(throws: EventLogError.self) { try load(header, pieces, into: log.directory.path("copy")) }
        #expect(error?.code == .invalidArgument, "\(error.map(String.init(describing:)) ?? "")")
    }

    @Test func factsThatWereAlteredInTheFolderAreTold() throws {
        let log = try worn()
        let generation = log.store.core.current
        let transaction = try generation.environment.beginWrite()
        try transaction.putSummed([7], at: Array("state".utf8), in: generation.tables.facts)
        try transaction.commit()
        let damage = try #require(try log.store.verify().damage)
        #expect(damage.reason.contains("is not what the act at 704 names: facts"))
        let error = #expect(throws: EventLogError.self) { try log.store.read { try $0.fact("state") } }
        #expect(error?.code == .damaged)
    }

    @Test func aDecisionBeyondTheHeadIsTold() throws {
        let log = try worn()
        let generation = log.store.core.current
        let transaction = try generation.environment.beginWrite()
        try transaction.putMeta(
            withKey(900 as UInt64) { Array($0) },
            named: MetaName.decidedAt,
            in: generation.tables.meta
        )
        try transaction.commit()
        #expect(throws: EventLogError.self) { try log.store.read { $0.head } }
        #expect(try log.store.verify().damage?.reason.contains("decided at 900") == true)
    }

    @Test func anActOfAnEarlierVersionIsTakenAndSaidToProveNothing() throws {
        let log = try worn()
        let (header, pieces) = try pieces(of: log.store)
        var frontier = MerkleFrontier()
        let older = try pieces.map { piece -> LogPiece in
            switch piece {
            case .keys, .missing: return piece
            case .dropped(let run):
                for hash in run.leafHashes { frontier.append(hash) }
                return piece
            case .event(let event):
                let older = event.envelope.isAct ? try event.withoutRemains() : event
                frontier.append(older.leafHash)
                return .event(older)
            }
        }
        var altered = header
        altered.root = frontier.root
        let path = log.directory.path("copy")
        #expect(try !load(altered, older, into: path).provesRemains)
        #expect(try !EventStore.verify(at: path).provesRemains)
        altered.decidedAt = SequenceNumber(702)
        #expect(throws: EventLogError.self) { try load(altered, older, into: log.directory.path("other")) }
        let store = try EventStore.open(at: path)
        _ = try store.rewrite(.dropping([650], decidedAt: SequenceNumber(704)))
        #expect(try store.verify().provesRemains, "the next compaction names all of it")
    }

    @Test func anActThatIsNoObjectIsRefused() throws {
        let log = try TemporaryLog([.sample(1)])
        var plan = try RewritePlan.dropping([1], decidedAt: SequenceNumber(1))
        plan.act.payload = Array("droppedHash".utf8)
        #expect(throws: EventLogError.self) { try log.store.rewrite(plan) }
    }

    /// Pages that are in use no more may still have the facts as they were.
    @Test(arguments: [1, 8])
    func aSalvageHasFactsThatAreProvedOrSaysThatTheyAreNot(commits: Int) throws {
        let log = try worn()
        let generation = log.store.core.current
        for commit in 1...commits {
            let transaction = try generation.environment.beginWrite()
            let forged = [UInt8](repeating: UInt8(commit), count: 2)
            try transaction.putSummed(forged, at: Array("state".utf8), in: generation.tables.facts)
            try transaction.commit()
        }
        let path = log.directory.path("saved")
        let report = try EventStore.salvage(log.path, to: path, now: Timestamp(seconds: 1))
        #expect(report.lost.isEmpty)
        let verified = try EventStore.verify(at: path)
        #expect(verified.isIntact)
        let fact = try EventStore.open(at: path).read { try $0.fact("state") }
        #expect(verified.head == SequenceNumber(verified.provesRemains ? 704 : 705))
        #expect((fact == [9, 8]) == verified.provesRemains)
    }
}

extension RecordedEvent {
    /// The act as a version wrote it that named nothing beside the events.
    fileprivate func withoutRemains() throws -> RecordedEvent {
        let text = String(decoding: payload, as: UTF8.self)
        let end = try #require(text.range(of: ",\"remains\":{"))
        let payload = Array((text[..<end.lowerBound] + "}").utf8)
        let commitment = RecordedEvent.commitment(salt: salt ?? [], payload: payload)
        let draft = RecordedEvent(
            envelope: envelope,
            payload: payload,
            salt: salt,
            commitment: commitment,
            leafHash: .zero
        )
        return RecordedEvent(
            envelope: envelope,
            payload: payload,
            salt: salt,
            commitment: commitment,
            leafHash: MerkleTree.leafHash(draft.leaf)
        )
    }
}
