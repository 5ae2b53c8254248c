import EventLog
import Foundation
import TestSupport
import Testing

/// A log beside a model of it that is a few arrays, under random operations; what fails is shrunk first.
///
/// `EVENTLOG_LONG_TESTS=1` tries a hundred times as many operations.
@Suite struct ModelTests {
    private static let rounds = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 3 : 300 as UInt64

    @Test func aLogDoesWhatItsModelDoes() throws {
        for seed in 1...Self.rounds {
            print("seed \(seed)")
            var random = SeededGenerator(seed: seed)
            let operations = (0..<80).map { _ in Operation(using: &random) }
            guard let reason = Self.fault(of: operations) else { continue }
            let least = shrunk(operations) { Self.fault(of: $0) != nil }
            Issue.record("seed \(seed): \(reason)\nleast: \(least)\n\(Self.fault(of: least) ?? "")")
            return
        }
    }

    /// One thing to do to a log. Numbers are places, taken modulo what there is.
    private enum Operation {
        case append([Int])
        case repeatOne(Int)
        case conflict(Int)
        case reopen
        case drop([Int])
        case seal(Int)
        case readAt(Int)
        case clock(Int)
        case bookmark(UInt8)
        case copy

        init(using random: inout SeededGenerator) {
            let number = Int.random(in: 0..<10_000, using: &random)
            switch Int.random(in: 0..<21, using: &random) {
            case 0...7: self = .append((0..<Int.random(in: 1...60, using: &random)).map { _ in random.number() })
            case 8, 9: self = .repeatOne(number)
            case 10, 11: self = .conflict(number)
            case 12: self = .reopen
            case 13: self = .drop((0..<Int.random(in: 1...30, using: &random)).map { _ in random.number() })
            case 14, 15: self = .readAt(number)
            case 16, 17: self = .clock(number)
            case 18: self = .bookmark(UInt8(truncatingIfNeeded: number))
            case 19: self = .seal(number)
            default: self = .copy
            }
        }
    }

    /// What a log must say of itself.
    private struct Model {
        /// By sequence − 1; an act has no draft.
        var drafts: [DraftEvent?] = []
        var leafHashes: [Hash256] = []
        /// Which rewrite dropped the event of a place, if one did.
        var rewrites: [Int: Int] = [:]
        /// The last sequence that was sealed; all up to there is, and nothing behind it.
        var sealed = 0
        var bookmark: [UInt8]?
        var nextKey = 0

        func isDropped(_ place: Int) -> Bool { rewrites[place] != nil }

        func place(_ number: Int) -> Int? {
            let remote = drafts.indices.filter { drafts[$0] != nil }
            return remote.isEmpty ? nil : remote[number % remote.count]
        }

        /// Of neighbours that one rewrite dropped together a single clock is left, known at the last of them; every 256th
        /// sequence keeps its own.
        func clock(at sequence: Int) -> Timestamp? {
            let whole = sequence / 256 * 256
            var times = drafts.prefix(whole).compactMap { $0?.recordedAt }
            var run: [Timestamp] = []
            for place in drafts.indices[..<sequence] {
                guard let time = drafts[place]?.recordedAt else { continue }
                guard let rewrite = rewrites[place] else {
                    times.append(time)
                    continue
                }
                run.append(time)
                guard rewrites[place + 1] != rewrite else { continue }
                times += run
                run = []
            }
            return times.max()
        }
    }

    private struct Fault: Error {
        let reason: String
    }

    private static func fault(of operations: [Operation]) -> String? {
        do {
            let directory = try TemporaryDirectory()
            var run = Run(directory: directory, store: try EventStore.openOrCreate(at: directory.path("L")))
            for (index, operation) in operations.enumerated() {
                do {
                    try run.perform(operation)
                } catch let fault as Fault {
                    return "operation \(index), \(operation): \(fault.reason)"
                }
            }
            try run.checkAll()
            return nil
        } catch {
            return String(describing: error)
        }
    }

    private struct Run {
        let directory: TemporaryDirectory
        var store: EventStore
        var model = Model()
        var copies = 0

        mutating func perform(_ operation: Operation) throws {
            switch operation {
            case .append(let numbers): try append(numbers)
            case .repeatOne(let number): try repeatOne(number)
            case .conflict(let number): try conflict(number)
            case .reopen: store = try EventStore.open(at: store.path)
            case .drop(let numbers): try drop(numbers)
            case .seal(let number): try seal(number)
            case .readAt(let number): try readAt(number)
            case .clock(let number): try clock(number)
            case .bookmark(let byte):
                let source = try SourceName("test")
                _ = try store.append([], bookmark: Bookmark(source: source, bytes: [byte]))
                model.bookmark = [byte]
            case .copy: try goOnWithACopy()
            }
            try expect(try store.read { $0.head.rawValue } == UInt64(model.drafts.count), "the head")
        }

        private func expect(_ holds: Bool, _ what: String) throws {
            guard holds else { throw Fault(reason: "\(what) is another one") }
        }

        private mutating func append(_ numbers: [Int]) throws {
            let drafts = try numbers.map { number in
                defer { model.nextKey += 1 }
                return try DraftEvent.sample(
                    number % 500,
                    key: number % 3 == 0 ? nil : number % 3 == 1 ? "k\(model.nextKey)" : "r\(number)/\(model.nextKey)",
                    payload: String(repeating: "x", count: number % 40 == 0 ? 3_000 : number % 50)
                )
            }
            let result = try store.append(drafts)
            try expect(result.appended == drafts.count, "the number of events appended")
            try expect(result.sequences.first?.rawValue == UInt64(model.drafts.count) + 1, "the first sequence")
            for (sequence, draft) in zip(result.sequences, drafts) {
                model.drafts.append(draft)
                model.leafHashes.append(try store.read { try $0.leafHash(at: sequence) })
            }
        }

        private func repeatOne(_ number: Int) throws {
            guard let place = model.place(number), var draft = model.drafts[place], draft.key != nil else { return }
            // The key of a dropped event decides alone.
            if model.isDropped(place) { draft.payload = [1, 2, 3] }
            draft.recordedAt = Timestamp(seconds: 9_999)
            let result = try store.append([draft])
            try expect(result.duplicates == 1 && result.appended == 0, "the answer to a repeat")
            try expect(result.sequences == [SequenceNumber(UInt64(place) + 1)], "the sequence of a repeat")
        }

        private mutating func conflict(_ number: Int) throws {
            guard let place = model.place(number), var draft = model.drafts[place], draft.key != nil else { return }
            if model.isDropped(place) { return }
            draft.payload += [1]
            var code: EventLogError.Code?
            do {
                _ = try store.append([.sample(1), draft])
            } catch let error as EventLogError {
                code = error.code
                try expect(error.sequence?.rawValue == UInt64(place) + 1, "the holder named by a conflict")
            }
            try expect(code == .keyConflict, "the error of a conflict")
        }

        private mutating func drop(_ numbers: [Int]) throws {
            let places = Set(numbers.compactMap { model.place($0) }).subtracting(model.rewrites.keys)
            guard !places.isEmpty else { return }
            let head = try store.read { $0.head }
            _ = try store.rewrite(.dropping(places.sorted().map { UInt64($0) + 1 }, decidedAt: head)) { _ in }
            for place in places { model.rewrites[place] = model.drafts.count }
            model.drafts.append(nil)
            model.leafHashes.append(try store.read { try $0.leafHash(at: head.next) })
        }

        /// Seals what came before the time of an event, or all.
        private mutating func seal(_ number: Int) throws {
            let head = model.drafts.count
            guard head > 0 else { return }
            let time =
                number % 5 == 0 ? nil : try store.read { try $0.clock(at: SequenceNumber(UInt64(number % head + 1))) }
            var last = time == nil ? head : 0
            if let time {
                // The clock never falls.
                var end = head + 1
                while end - last > 1 {
                    let middle = (last + end) / 2
                    if model.clock(at: middle).map({ $0 < time }) ?? true { last = middle } else { end = middle }
                }
            }
            let result = try store.seal(time.map { .before($0) } ?? .all, now: Timestamp(seconds: 1), mustShrink: false)
            guard last > model.sealed,
                (model.sealed..<last).contains(where: { model.drafts[$0] != nil && !model.isDropped($0) })
            else {
                return try expect(result == nil, "the answer to sealing nothing")
            }
            try expect(result?.through.rawValue == UInt64(last), "the last sequence that was sealed")
            model.sealed = last
            model.drafts.append(nil)
            model.leafHashes.append(try store.read { try $0.leafHash(at: SequenceNumber(UInt64(head) + 1)) })
        }

        private func readAt(_ number: Int) throws {
            guard !model.drafts.isEmpty else { return }
            let place = number % model.drafts.count
            let event = try store.read { try $0.event(at: SequenceNumber(UInt64(place) + 1)) }
            try expect((event == nil) == model.isDropped(place), "whether event \(place + 1) is held")
            guard let event, let draft = model.drafts[place] else { return }
            try expect(event.payload == draft.payload && event.envelope.key == draft.key, "event \(place + 1)")
            try expect(event.leafHash == model.leafHashes[place], "the leaf hash of event \(place + 1)")
        }

        private func clock(_ number: Int) throws {
            guard !model.drafts.isEmpty else { return }
            let sequence = number % model.drafts.count + 1
            let clock = try store.read { try $0.clock(at: SequenceNumber(UInt64(sequence))) }
            try expect(clock == model.clock(at: sequence), "the clock at \(sequence)")
        }

        /// Goes on with a copy of the log.
        private mutating func goOnWithACopy() throws {
            copies += 1
            let path = directory.path("copy-\(copies)")
            _ = try store.backup(to: path)
            store = try EventStore.open(at: path)
        }

        func checkAll() throws {
            let report = try store.verify()
            try expect(report.isIntact, "a verified log, \(report.damage?.description ?? "")")
            let sealed = (0..<model.sealed).count { !model.isDropped($0) }
            try expect(report.sealed == UInt64(sealed), "the number of sealed events")
            try expect(try store.statistics().sealed == report.sealed, "the number of sealed events in the statistics")
            let held = model.drafts.indices.count { !model.isDropped($0) }
            try expect(try store.statistics().held == UInt64(held), "the number of held events")
            var expected: [UInt64] = []
            for place in model.drafts.indices where !model.isDropped(place) {
                expected.append(UInt64(place) + 1)
            }
            var found: [UInt64] = []
            try store.read { session in
                guard session.head > .zero else { return }
                try session.forEachEvent(in: SequenceNumber(1)...session.head) {
                    found.append($0.sequence.rawValue)
                    return true
                }
                let root = MerkleTree.root(of: model.leafHashes)
                try expect(try session.root(size: session.head.rawValue) == root, "the root")
                try expect(try session.bookmark(of: SourceName("test")) == model.bookmark, "the bookmark")
            }
            try expect(found == expected, "the list of held events")
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func number() -> Int { Int.random(in: 0..<10_000, using: &self) }
}
