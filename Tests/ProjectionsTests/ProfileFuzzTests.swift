import EventLog
import TestSupport
import Testing

@testable import Clients
@testable import Projections

@Suite struct ProfileFuzzTests {
    private static let files = [
        "---\nfrom: ann\ndate: 2025-03-04T05:06:07Z\ntags: [a, \"b\"]\nfiles:\n  - 'a b.ts'\nreply_to: x.md\n---\n\nhi",
        "---json\n{\"from\":0,\"date\":1741064767}\n---\nhi",
        "---\r\nfrom: 0x1f\r\ndate: 2025-02-30\r\nedited: -5e3\r\n---",
    ]

    private static let frames = [
        #"{"op":0,"t":"MESSAGE_CREATE","s":3,"d":{"id":"1","channel_id":2,"author_id":"3","content":"é","created_at":"2026-03-01T12:00:00Z"}}"#,
        #"{"op":0,"t":"MESSAGE_DELETE","d":{"id":"1","channel_id":2}}"#,
        #"{"op":0,"t":"GUILD_MEMBER_ADD","d":{"guild_id":18446744073709551615,"user_id":1,"roles":[9007199254740993]}}"#,
        #"{"op":0,"t":"TYPING_START","d":{"channel_id":1,"user_id":2}}"#,
        #"{"op":0,"t":"CHANNEL_CREATE","d":{"id":1,"type":1,"recipients":[{"id":2}]}}"#,
    ]

    @Test(arguments: [Profile.vibechannelIOS, .vibechannelVSCode], [21, 22] as [UInt64])
    func anyFileIsAMessageOrAFault(profile: Profile, seed: UInt64) {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var messageCount = 0
        for _ in 1...3000 {
            let bytes = Self.mutated(Self.files, &random)
            let text = String(decoding: bytes, as: UTF8.self)
            let message = try? FrontMatter(file: text, by: ClientFiles(rules: profile.rules))
            messageCount += message == nil ? 0 : 1
        }
        #expect(messageCount > 0)
    }

    /// Whatever arrives, the digest that is kept is that of the state, and one app's rules leave another's events alone.
    @Test(arguments: Profile.allCases, [31] as [UInt64])
    func anyFrameLeavesAStateThatAgreesWithItsDigest(profile: Profile, seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var kept = LogState(rules: profile.rules)
        var fresh = LogState(rules: profile.rules)
        var canonical = LogState()
        _ = kept.digest()
        for sequence in 1...600 {
            let envelope = Envelope(
                sequence: SequenceNumber(UInt64(sequence)),
                recordedAt: Timestamp(seconds: Int64(sequence)),
                source: try SourceName("app"),
                kind: EventKind("gateway.frame/1" as StaticString)
            )
            Self.mutated(Self.frames, &random).withUnsafeBytes { payload in
                kept.apply(envelope, payload: payload)
                fresh.apply(envelope, payload: payload)
                canonical.apply(envelope, payload: payload)
            }
            if sequence % 50 == 0 { _ = kept.digest() }
        }
        #expect(kept.digest() == fresh.digest())
        let isRetrocast = [.retrocastIOS, .retrocastWeb].contains(profile.base)
        #expect((kept.digest() == canonical.digest()) == !isRetrocast)
    }

    private static func mutated(_ texts: [String], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array((texts.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2:
                bytes.insert(contentsOf: Array("---\n[\"']:,#- ".utf8).shuffled(using: &random).prefix(4), at: index)
            default: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &random))
            }
        }
        return bytes
    }
}
