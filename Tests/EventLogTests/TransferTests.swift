import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct TransferTests {
    private func log(_ count: Int) throws -> TemporaryLog {
        try TemporaryLog((1...count).map { try .sample($0, key: $0 % 3 == 0 ? nil : "key \($0)") })
    }

    /// Twice compacted, with a run that a tree node ends in, facts, a bookmark, and a substitute.
    private func worn() throws -> TemporaryLog {
        let log = try log(700)
        _ = try log.store.append([], bookmark: Bookmark(source: SourceName("test"), bytes: [1, 2, 3]))
        let first = try RewritePlan.dropping(
            (1...600).filter { $0 % 50 != 0 }.map { UInt64($0) },
            decidedAt: SequenceNumber(700),
            facts: ["state": [9, 8]]
        )
        _ = try log.store.rewrite(first)
        _ = try log.store.append([.sample(5, key: "late"), .sample(6000, source: "other", key: "late")])
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

    @Test func aWornLogComesBackAsItWas() throws {
        let log = try worn()
        let (header, pieces) = try pieces(of: log.store)
        let path = log.directory.path("copies/copy")
        let result = try load(header, pieces, into: path)
        #expect(result.appended == header.size && result.duplicates == 0)
        let copy = try EventStore.open(at: path)
        #expect(copy.identity == log.store.identity)
        let (copiedHeader, copiedPieces) = try self.pieces(of: copy)
        #expect(copiedHeader == header)
        #expect(header.decidedAt == SequenceNumber(703) && header.acts.count == 2 && header.facts["state"] == [9, 8])
        #expect(copiedPieces.map { "\($0)" } == pieces.map { "\($0)" })
        #expect(try copy.verify() == log.store.verify().inGeneration(1))
        for sequence in stride(from: 1, through: header.size, by: 17) {
            let place = SequenceNumber(sequence)
            #expect(try copy.read { try $0.clock(at: place) } == log.store.read { try $0.clock(at: place) })
        }
        let again = try copy.append([.sample(1, key: "key 1"), .sample(5, key: "late", payload: "other")])
        #expect(again.sequences.map(\.rawValue) == [1, 702])
        #expect(try FileManager.default.contentsOfDirectory(atPath: log.directory.path("copies")) == ["copy"])
    }

    @Test func aSubstituteComesBackWithoutItsSalt() throws {
        let log = try log(20)
        let substitute = Array("[redacted]".utf8)
        let hash = Hasher256.hash(substitute).hex
        var plan = try RewritePlan.dropping([], decidedAt: SequenceNumber(20))
        plan.substitutes = [SequenceNumber(4): substitute]
        plan.act.payload = Array("{\"redacted\":[{\"sequence\":\"4\",\"substituteHash\":\"\(hash)\"}]}".utf8)
        _ = try log.store.rewrite(plan)
        let (header, pieces) = try pieces(of: log.store)
        let path = log.directory.path("copy")
        _ = try load(header, pieces, into: path)
        let copy = try EventStore.open(at: path)
        let place = SequenceNumber(4)
        #expect(try copy.read { try $0.event(at: place) } == log.store.read { try $0.event(at: place) })
        #expect(try copy.verify().redacted == 1)
    }

    @Test func aLogThatIsAPrefixGetsTheRest() throws {
        let log = try log(300)
        let (header, pieces) = try pieces(of: log.store)
        let path = log.directory.path("copy")
        _ = try load(header, pieces, into: path)
        let copy = try EventStore.open(at: path)
        _ = try copy.append([], bookmark: Bookmark(source: SourceName("own"), bytes: [7]))
        _ = try log.store.append((1...10).map { try .sample($0, key: "more \($0)") })
        let (longer, more) = try self.pieces(of: log.store)
        let result = try load(longer, more, into: path)
        #expect(result.appended == 10 && result.duplicates == 300)
        #expect(try copy.read { try $0.root(size: 310) } == longer.root)
        #expect(try copy.read { try $0.bookmark(of: SourceName("own")) } == [7])
        #expect(try copy.append([.sample(3, key: "more 3")]).sequences.map(\.rawValue) == [303])
        #expect(try load(longer, more, into: path) == ImportResult.nothing(of: 310))
        #expect(try load(header, pieces, into: path) == ImportResult.nothing(of: 300))
        #expect(try copy.verify().isIntact)
    }

    @Test func aForkIsRefusedAndNamed() throws {
        let log = try log(300)
        let (header, pieces) = try pieces(of: log.store)
        let path = log.directory.path("copy")
        _ = try load(header, pieces, into: path)
        let copy = try EventStore.open(at: path)
        _ = try copy.append([.sample(1, key: "here")])
        _ = try log.store.append([.sample(2, key: "there"), .sample(3, key: "there too")])
        let (longer, more) = try self.pieces(of: log.store)
        let before = try copy.verify()
        let error = #expect(throws: EventLogError.self) { try load(longer, more, into: path) }
        #expect(error?.sequence == SequenceNumber(301))
        #expect(error?.description.contains("fork at sequence 301") == true)
        #expect(try copy.verify() == before)
    }

    @Test func whatTheLogHoldsIsNotLost() throws {
        let log = try log(300)
        let (header, pieces) = try pieces(of: log.store)
        let path = log.directory.path("copy")
        _ = try load(header, pieces, into: path)
        _ = try log.store.rewrite(.dropping([5], decidedAt: SequenceNumber(300)))
        let (longer, more) = try self.pieces(of: log.store)
        let error = #expect(throws: EventLogError.self) { try load(longer, more, into: path) }
        #expect(error?.sequence == SequenceNumber(5))
    }

    @Test(arguments: ["root", "missing", "payload", "order", "interrupted"])
    func whatDoesNotFitItsHeaderMakesNothing(fault: String) throws {
        let log = try log(300)
        var (header, pieces) = try pieces(of: log.store)
        switch fault {
        case "root": header.root = Hasher256.hash([1])
        case "missing": pieces.removeLast()
        case "order": pieces.swapAt(3, 4)
        case "payload":
            guard case .event(let event) = pieces[7] else { break }
            let altered = RecordedEvent(
                envelope: event.envelope,
                payload: [1],
                salt: event.salt,
                commitment: event.commitment,
                leafHash: event.leafHash
            )
            pieces[7] = .event(altered)
        default: break
        }
        let path = log.directory.path("copies/copy")
        #expect(throws: (any Error).self) {
            try EventStore.importLog(at: path, header: header) { log in
                for piece in pieces { try log.add(piece) }
                if fault == "interrupted" { throw CancellationError() }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: log.directory.path("copies")).isEmpty)
        let (whole, all) = try self.pieces(of: log.store)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try load(whole, all, into: path + "/").appended == 300)
    }

    @Test func anEmptyLogAndAForeignDirectory() throws {
        let log = try TemporaryLog()
        let (header, pieces) = try pieces(of: log.store)
        #expect(pieces.isEmpty && header.size == 0)
        let path = log.directory.path("copy")
        #expect(try load(header, pieces, into: path).appended == 0)
        #expect(try EventStore.open(at: path).identity == log.store.identity)
        #expect(throws: EventLogError.self) { try load(header, pieces, into: log.directory.path("")) }
        let other = try TemporaryLog()
        #expect(throws: EventLogError.self) { try load(header, pieces, into: other.path) }
    }
}

extension ImportResult {
    fileprivate static func nothing(of count: UInt64) -> ImportResult {
        ImportResult(appended: 0, duplicates: count)
    }
}

extension VerifyReport {
    fileprivate func inGeneration(_ number: UInt32) -> VerifyReport {
        var report = self
        report.generation = number
        return report
    }
}
