import EventLog
import Foundation
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// Random and mutated decoder files and payloads: an answer for each, and no fault without a line.
///
/// `EVENTLOG_LONG_TESTS=1` takes 20,000 of them.
@Suite struct DecoderAttackTests {
    private static let count = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 100 : 5_000
    private static let words = [
        "when:", "each:", "do:", "from:", "make: message", "{first: [/a, .]}", "^^^^/x", "$/a/b", "snapshot: s", "&a",
        "*a", "!!x",
        "'", "\"", "[", "]", "{", "}", "- ", ": ", "\n", "\t", "9e99", "missing", "{json: /a, at: /b}",
        "{not: {not: null}}",
        "deleted: until-stated", "own: /id", "scope: key", "\u{2028}", "é",
    ]

    private static func texts() throws -> [String] {
        try ["slack", "matrix", "mastodon", "discord", "todoist"].map { name in
            let url = PackageRoot.url.appending(path: "Fixtures/decoders/\(name).decoder.yaml")
            return try String(contentsOf: url, encoding: .utf8)
        }
    }

    @Test(arguments: [11, 12, 13, 14] as [UInt64])
    func anyFileAndPayloadHasAnAnswer(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let texts = try Self.texts()
        let source = try SourceName("app")
        var readCount = 0
        for round in 0..<Self.count {
            let text = Self.mutated(texts[round % texts.count], &random)
            let file: DecoderFile
            do throws(DecoderFileError) {
                file = try DecoderFile(text)
            } catch {
                #expect(!error.reason.isEmpty)
                if let line = error.line { #expect((1...text.utf8.count + 1).contains(line)) }
                continue
            }
            readCount += 1
            var trial = DecoderTrial(file, source: source)
            for (index, sample) in file.samples.enumerated() {
                let envelope = Envelope(
                    sequence: SequenceNumber(UInt64(index + 1)),
                    recordedAt: Timestamp(seconds: 0),
                    source: source,
                    kind: sample.kind,
                    key: nil,
                    attributes: sample.attributes,
                    holding: .whole
                )
                let payload = Array(Self.mutated(sample.payload, &random).utf8)
                let outcome = payload.withUnsafeBytes { trial.read(envelope, payload: $0) }
                // Sixteen of an event, and one that counts the others.
                #expect(outcome.decoded.issues.count <= 17)
            }
        }
        #expect(readCount > 0)
    }

    /// The work for a payload grows as its lists do, in the files as they are and in mutated ones, for any payload.
    @Test(arguments: [21, 22] as [UInt64])
    func theWorkIsLinearInThePayload(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let texts = try Self.texts()
        var comparedCount = 0
        for round in 0..<max(40, Self.count / 20) {
            let text = round < texts.count ? texts[round] : Self.mutated(texts[round % texts.count], &random)
            guard let file = try? DecoderFile(text) else { continue }
            for sample in file.samples {
                guard let value = try? JSONValue.parse(sample.payload) else { continue }
                let (few, many) = try (Self.steps(value, 16, file, sample), Self.steps(value, 64, file, sample))
                guard many.bytes > few.bytes * 2 else { continue }
                comparedCount += 1
                let growth = Double(many.bytes) / Double(few.bytes)
                #expect(
                    Double(many.steps) <= 1.1 * growth * Double(few.steps) + 200,
                    "\(few) \(many) \(sample.payload) in \(text)"
                )
            }
        }
        #expect(comparedCount > 10)
    }

    /// The counted steps for a payload whose lists are so many times as long, each element with ids of its own, and its bytes.
    private static func steps(
        _ value: JSONValue,
        _ times: Int,
        _ file: DecoderFile,
        _ sample: DecoderSample
    ) throws -> (steps: Int, bytes: Int) {
        var number = 0
        let payload = Array(stretched(value, times, &number).canonicalText.utf8)
        let source = try SourceName("app")
        var trial = DecoderTrial(file, source: source)
        let counter = Steps.Counter()
        Steps.$counter.withValue(counter) {
            for sequence in 1...2 {
                let envelope = Envelope(
                    sequence: SequenceNumber(UInt64(sequence)),
                    recordedAt: Timestamp(seconds: 0),
                    source: source,
                    kind: sample.kind,
                    key: nil,
                    attributes: sample.attributes,
                    holding: .whole
                )
                _ = payload.withUnsafeBytes { trial.read(envelope, payload: $0) }
            }
        }
        return (counter.count, payload.count)
    }

    /// The outermost lists so many times as long; members called `id`, `ts` and the like differ.
    private static func stretched(_ value: JSONValue, _ times: Int, _ number: inout Int) -> JSONValue {
        switch value {
        case .array(let elements):
            var longer: [JSONValue] = []
            for _ in 0..<(elements.isEmpty ? 0 : times) {
                for element in elements { longer.append(stretched(element, 1, &number)) }
            }
            return .array(longer)
        case .object(let object):
            var result = JSONObject()
            for member in object.members {
                number += 1
                let isID = ["id", "ts", "event_id", "uuid"].contains(member.name)
                result[member.name] =
                    isID && member.value.string != nil
                    ? .string("\(member.value.string ?? "")\(number)") : stretched(member.value, times, &number)
            }
            return .object(result)
        default: return value
        }
    }

    /// Some bytes replaced, left out or added; now and then nothing.
    private static func mutated(_ text: String, _ random: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0x20...0x7e, using: &random)
            case 1: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...40, using: &random)))
            case 2: bytes.insert(contentsOf: Array((words.randomElement(using: &random) ?? "").utf8), at: index)
            case 3:
                let end = min(bytes.count, index + Int.random(in: 1...400, using: &random))
                bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0..<bytes.count, using: &random))
            default: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &random))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
