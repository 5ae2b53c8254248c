import TestSupport
import Testing

@testable import Projections

/// Handles of ids, which give back the texts byte for byte.
@Suite struct NameTextsTests {
    private static let texts = [
        "", "0", "00", "007", "42", "9223372036854775807", "9223372036854775808", "a", "20250304T050607-ann-012345",
        "\u{e9}", "e\u{301}", "\u{1F30A}", "a\u{0}b", String(repeating: "x", count: 300_000),
    ]

    @Test func givesEachTextOneHandle() throws {
        var names = Names()
        let ids = Self.texts.map { names.id($0) }
        #expect(Set(ids).count == Self.texts.count)
        for (text, id) in zip(Self.texts, ids) {
            #expect(ExactText(names.text(id)) == ExactText(text))
            #expect(names.id(text) == id)
            #expect(names.find(text) == id)
        }
        #expect(names.find("b") == nil)
        #expect(names.text(.none) == "")
    }

    @Test func comesBackFromItsSavedBytes() throws {
        var names = Names()
        let ids = Self.texts.map { names.id($0) }
        let loaded = try StateDecoder.value(Names.self, from: StateEncoder.bytes(of: names))
        #expect(loaded.isSame(as: names))
        #expect(Self.texts.map { loaded.find($0) } == ids)
        _ = names.id("later")
        #expect(!loaded.isSame(as: names))
    }

    @Test(arguments: [127, 128, 129, 1000])
    func manyTextsKeepTheirHandles(count: Int) throws {
        var names = Names()
        let texts = (0..<count).map { "name \($0)" }
        let ids = texts.map { names.id($0) }
        let loaded = try StateDecoder.value(Names.self, from: StateEncoder.bytes(of: names))
        #expect(loaded.isSame(as: names))
        #expect(ids.map { names.text($0) } == texts && ids.map { loaded.text($0) } == texts)
        #expect(texts.map { loaded.find($0) } == ids)
    }

    @Test func sortsByBytes() {
        var names = Names()
        let ids = Self.texts.map { names.id($0) }
        let sorted = ids.sorted { names.precedes($0, $1) }.map { Array(names.text($0).utf8) }
        #expect(sorted == Self.texts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func keepsATextThatIsTooLongForAPool() {
        var names = Names()
        let text = String(repeating: "y", count: TextPool.countMax + 1)
        let (short, long) = (names.id("short"), names.id(text))
        #expect(names.id(text) == long && names.find(text) == long)
        #expect(names.text(long) == text && names.text(short) == "short")
        #expect(names.precedes(short, long))
    }
}

/// Ids of git objects, hashes or not.
@Suite struct GitIDsTests {
    private static let hash = "0123456789abcdef0123456789abcdef01234567"

    @Test func givesEachIdOnePlace() throws {
        let texts = [
            Self.hash, "c1", "", Self.hash.uppercased(), String(Self.hash.dropLast()), Self.hash + "8",
            String(repeating: "0", count: 40), String(repeating: "f", count: 40), String(repeating: "ab", count: 32),
        ]
        var ids = GitIDs()
        let places = texts.map { ids.add($0) }
        #expect(places == texts.indices.map { UInt32($0) })
        let loaded = try StateDecoder.value(GitIDs.self, from: StateEncoder.bytes(of: ids))
        for (text, place) in zip(texts, places) {
            #expect(ids.text(place) == text && loaded.text(place) == text)
            #expect(ids.find(text) == place && loaded.find(text) == place)
            #expect(ids.add(text) == place)
        }
        #expect(ids.find(String(Self.hash.reversed())) == nil && loaded.find("c2") == nil)
        #expect(ids.count == texts.count)
    }
}
