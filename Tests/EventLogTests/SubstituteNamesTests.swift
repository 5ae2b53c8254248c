import TestSupport
import Testing

@testable import EventLog

@Suite struct SubstituteNamesTests {
    private static let hashes = (0..<3).map { Hasher256.hash([$0]) }

    /// What a search for the text of each name finds.
    private func expected(in payload: [UInt8], _ name: SubstituteNames.Name) -> Bool {
        let text = "\"sequence\":\"\(name.sequence)\",\"substituteHash\":\"\(name.hash.hex)\""
        return payload.contains(Array(text.utf8))
    }

    @Test func namesAreThoseThatASearchFinds() {
        var random = SeededGenerator(seed: 31)
        let sequences: [UInt64] = [1, 10, 101, .max]
        var found = 0
        for round in 0..<2_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let sequence = sequences.randomElement(using: &random) ?? 0
                let hash = Self.hashes.randomElement(using: &random)?.hex ?? ""
                var piece = "{\"sequence\":\"\(sequence)\",\"substituteHash\":\"\(hash)\"}"
                if Int.random(in: 0..<3, using: &random) == 0 {
                    let place = piece.index(piece.startIndex, offsetBy: Int.random(in: 0..<piece.count, using: &random))
                    let others = ["", "\"", "0", "F", "\"sequence\":\"", "\"sequence\":\"1\","]
                    piece.replaceSubrange(place...place, with: others.randomElement(using: &random) ?? "")
                }
                text += piece
            }
            let payload = Array(text.utf8)
            var names = SubstituteNames()
            payload.withUnsafeBytes { names.add($0, of: 7) }
            for sequence in sequences {
                for hash in Self.hashes {
                    let name = SubstituteNames.Name(sequence: sequence, hash: hash)
                    let isNamed = expected(in: payload, name)
                    #expect((names.act(naming: name) == 7) == isNamed, "round \(round): \(text)")
                    if isNamed { found += 1 }
                }
            }
        }
        #expect(found > 1_000)
    }

    @Test func theLastActCounts() {
        let payload = Array("{\(RewritePlan.name(ofSubstitute: [1], for: SequenceNumber(5)))}".utf8)
        var names = SubstituteNames()
        for act in [8, 9] as [UInt64] { payload.withUnsafeBytes { names.add($0, of: act) } }
        #expect(names.act(naming: .init(sequence: 5, hash: Hasher256.hash([1]))) == 9)
        #expect(names.act(naming: .init(sequence: 6, hash: Hasher256.hash([1]))) == nil)
    }
}
