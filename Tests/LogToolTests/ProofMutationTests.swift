import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// No altered proof says something about a log that is not so.
@Suite struct ProofMutationTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let count = isLong ? 50_000 : 1_000
    private static let substitute = Array(#"{"text":"[redacted]"}"#.utf8)

    /// Whole, redacted and dropped events, and the act of each rewrite.
    private static func log() throws -> TemporaryLog {
        let log = try TemporaryLog(
            (1...40).map {
                try .sample($0, key: $0 % 2 == 0 ? nil : "k\($0)", attributes: $0 % 3 == 0 ? ["dir": "in"] : .none)
            }
        )
        var plan = try RewritePlan.dropping([], decidedAt: SequenceNumber(40))
        plan.substitutes = [SequenceNumber(4): substitute, SequenceNumber(9): Array("gone".utf8)]
        let names = plan.substitutes.sorted { $0.key < $1.key }.map {
            "{\(RewritePlan.name(ofSubstitute: $0.value, for: $0.key))}"
        }
        plan.act.payload = Array("{\"redacted\":[\(names.joined(separator: ","))]}".utf8)
        _ = try log.store.rewrite(plan)
        _ = try log.store.append((50...60).map { try .sample($0) })
        _ = try log.store.rewrite(.dropping([11, 12, 13, 20], decidedAt: SequenceNumber(52)))
        return log
    }

    private static func proofs(of log: TemporaryLog) throws -> [String] {
        try log.store.read { session in
            var proofs: [String] = []
            for (sequence, size) in [
                (1, 53), (4, 53), (4, 40), (4, 41), (9, 53), (12, 53), (17, 20), (41, 53), (53, 53),
            ] {
                let proof = try InclusionProof(of: SequenceNumber(UInt64(sequence)), size: UInt64(size), in: session)
                proofs.append(String(decoding: proof.json, as: UTF8.self))
            }
            for (first, second) in [(1, 53), (7, 42), (32, 53), (40, 41), (53, 53)] as [(UInt64, UInt64)] {
                let proof = try ConsistencyProof(from: first, to: second, in: session)
                proofs.append(String(decoding: proof.json, as: UTF8.self))
            }
            return proofs
        }
    }

    @Test func proofsOfEveryKindHold() throws {
        let proofs = try Self.proofs(of: Self.log())
        let texts = try proofs.map { try ProofCheck(Array($0.utf8)) }.map { check in
            #expect(check.fault == nil)
            return check.text
        }
        #expect(
            texts == [
                .original, .substitute, .unproved, .substitute, .substitute, nil, .original, .original, .original, nil,
                nil,
                nil, nil, nil,
            ]
        )
    }

    @Test func aForgedSubstituteDoesNotHold() throws {
        let proofs = try Self.proofs(of: Self.log())
        let forged = proofs[1].replacingOccurrences(of: "[redacted]", with: "I owe you 5")
        try #require(forged != proofs[1])
        #expect(
            try ProofCheck(Array(forged.utf8)).fault == "its act does not name the text that stands in it"
        )
        let other = proofs[2].replacingOccurrences(of: "[redacted]", with: "I owe you 5")
        let check = try ProofCheck(Array(other.utf8))
        #expect(check.fault == nil && check.text == .unproved)
        #expect(!check.holds(forEnvelope: false) && check.holds(forEnvelope: true))
    }

    @Test func noAlteredProofGetsAFalseYes() throws {
        let log = try Self.log()
        let proofs = try Self.proofs(of: log)
        let truth = try Truth(log)
        let seed: UInt64 = 16_006
        var random = SeededGenerator(seed: seed)
        var (yes, vacuous) = (0, 0)
        for round in 0..<Self.count {
            let altered = Self.mutated(proofs, using: &random)
            for envelope in [false, true] {
                guard let check = try? ProofCheck(altered), check.holds(forEnvelope: envelope) else {
                    continue
                }
                yes += 1
                switch truth.judge(altered, textCounts: !envelope || check.text != .unproved) {
                case .holds: break
                case .otherSize: vacuous += 1
                case .isFalse(let reason):
                    Issue.record("seed \(seed), round \(round): \(reason): \(String(decoding: altered, as: UTF8.self))")
                }
            }
        }
        print("proofs: \(Self.count) mutations of seed \(seed), \(yes) still hold, \(vacuous) of no size of the log")
        #expect(yes < Self.count, "something is refused")
    }

    // MARK: Mutating

    private static func mutated(_ proofs: [String], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(proofs.randomElement(using: &random)?.utf8 ?? "".utf8)
        for _ in 0...Int.random(in: 0...1, using: &random) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1:
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let digits = Array("0123456789abcdefABZz+/=\"".utf8)
                bytes[place] = digits.randomElement(using: &random) ?? 0
            default:
                guard let altered = member(of: bytes, proofs, using: &random) else { continue }
                bytes = altered
            }
        }
        return bytes
    }

    /// One member, somewhere, taken away, doubled, given another name or the value of another proof's.
    private static func member(of bytes: [UInt8], _ proofs: [String], using random: inout SeededGenerator) -> [UInt8]? {
        guard let value = try? JSONValue.parse(bytes), var object = value.object,
            let other = proofs.randomElement(using: &random).flatMap({ try? JSONValue.parse($0) })?.object
        else { return nil }
        let inner = ["event", "act"].filter { object[$0]?.object != nil }
        if let name = inner.randomElement(using: &random), Bool.random(using: &random), let child = object[name]?.object
        {
            object[name] = .object(altered(child, other[name]?.object ?? other, using: &random))
            return Array(JSONValue.object(object).text.utf8)
        }
        if Int.random(in: 0..<8, using: &random) == 0, let name = object.members.randomElement(using: &random)?.name,
            let stranger = other[name]
        {
            // A name that stands twice.
            let text = JSONValue.object(object).text.dropFirst()
            return Array("{\"\(name)\":\(stranger.text),\(text)".utf8)
        }
        return Array(JSONValue.object(altered(object, other, using: &random)).text.utf8)
    }

    private static func altered(
        _ object: JSONObject,
        _ other: JSONObject,
        using random: inout SeededGenerator
    ) -> JSONObject {
        var object = object
        guard let name = object.members.randomElement(using: &random)?.name, let value = object[name] else {
            return object
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: object[name] = nil
        case 1: object[name] = other[name]
        case 2:
            guard let stranger = other.members.randomElement(using: &random) else { break }
            object[stranger.name] = stranger.value
        case 3:
            object[
                ["payload", "payloadBase64", "commitment", "redacted", "note"].randomElement(using: &random) ?? ""
            ] = value
        case 4:
            guard var array = value.array, !array.isEmpty else { break }
            let place = Int.random(in: 0..<array.count, using: &random)
            if Bool.random(using: &random) { array.remove(at: place) } else { array.swapAt(place, 0) }
            object[name] = .array(array)
        default:
            guard let number = value.string.flatMap({ Int($0) }) else { break }
            object[name] = .string(String(number + Int.random(in: -2...2, using: &random)))
        }
        return object
    }

    // MARK: Judging

    /// What is so, read out of the log; Foundation reads what is claimed.
    private struct Truth {
        enum Judgement {
            case holds, otherSize, isFalse(String)
        }

        var roots: [Hash256] = []
        var leafHashes: [Hash256] = []
        var events: [UInt64: RecordedEvent] = [:]

        init(_ log: TemporaryLog) throws {
            for event in try log.events() { events[event.envelope.sequence.rawValue] = event }
            let (roots, hashes) = try log.store.read { session in
                let size = session.head.rawValue
                var roots: [Hash256] = []
                for size in 0...size { roots.append(try session.root(size: size)) }
                var hashes: [Hash256] = []
                for sequence in 1...size { hashes.append(try session.leafHash(at: SequenceNumber(sequence))) }
                return (roots, hashes)
            }
            (self.roots, leafHashes) = (roots, hashes)
        }

        func judge(_ bytes: [UInt8], textCounts: Bool) -> Judgement {
            guard let claim = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
                return .isFalse("no JSON for Foundation")
            }
            if claim["firstRoot"] != nil {
                guard isRoot(claim, "firstRoot", "first"), isRoot(claim, "secondRoot", "second") else {
                    return .otherSize
                }
                return number(claim, "first") <= number(claim, "second") ? .holds : .isFalse("the first is longer")
            }
            guard isRoot(claim, "root", "treeSize") else { return .otherSize }
            let sequence = number(claim, "sequence")
            guard sequence > 0, sequence <= number(claim, "treeSize"), number(claim, "leafIndex") == sequence - 1 else {
                return .isFalse("it has another place")
            }
            guard hash(claim, "leafHash") == leafHashes[Int(sequence) - 1] else { return .isFalse("another leaf") }
            guard let event = claim["event"] as? [String: Any] else { return .holds }
            guard let known = events[sequence] else { return .isFalse("an event that is dropped") }
            return judge(event, known, textCounts)
        }

        private func judge(_ claim: [String: Any], _ event: RecordedEvent, _ textCounts: Bool) -> Judgement {
            let envelope = event.envelope
            let payload =
                (claim["payload"] as? String).map { Array($0.utf8) }
                ?? (claim["payloadBase64"] as? String).flatMap { Data(base64Encoded: $0) }.map { Array($0) }
            if textCounts, payload != event.payload { return .isFalse("another text") }
            if claim["payload"] != nil, claim["payloadBase64"] != nil { return .isFalse("two texts") }
            let attributes = Dictionary(uniqueKeysWithValues: envelope.attributes.pairs.map { ($0.name, $0.value) })
            let isSame =
                claim["source"] as? String == envelope.source.rawValue
                && claim["kind"] as? String == envelope.kind.rawValue
                && claim["key"] as? String == envelope.key?.rawValue
                && claim["attributes"] as? [String: String] == attributes
                && claim["recordedAt"] as? String == envelope.recordedAt.description
                && (claim["redacted"] as? Bool ?? false) == (envelope.holding == .redacted)
            return isSame ? .holds : .isFalse("another envelope")
        }

        private func number(_ claim: [String: Any], _ name: String) -> UInt64 {
            (claim[name] as? String).flatMap { UInt64($0) } ?? .max
        }

        private func hash(_ claim: [String: Any], _ name: String) -> Hash256? {
            (claim[name] as? String).flatMap(Hash256.init(spelled:))
        }

        private func isRoot(_ claim: [String: Any], _ root: String, _ size: String) -> Bool {
            let size = number(claim, size)
            return size < UInt64(roots.count) && hash(claim, root) == roots[Int(size)]
        }
    }
}
