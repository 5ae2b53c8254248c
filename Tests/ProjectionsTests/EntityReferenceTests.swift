import Testing

@testable import Projections

@Suite struct EntityReferenceTests {
    @Test(arguments: [
        ("message:vibe/general/20260119T083000-ada-1f2e3d", ["vibe", "general", "20260119T083000-ada-1f2e3d"]),
        ("row:app/files/a%2Fb", ["app", "files", "a/b"]), ("channel:a%25b", ["a%b"]), ("item:50%/x", ["50%", "x"]),
        ("item:%FF", ["%FF"]), ("session:%C3%A9", ["é"]), ("item:app//7", ["app", "", "7"]),
        ("issue:app/a: b", ["app", "a: b"]),
    ])
    func textsNameParts(text: String, parts: [String]) throws {
        let reference = try #require(EntityReference(text))
        #expect(reference.parts == parts)
        #expect(EntityReference(reference.description) == reference)
    }

    @Test(arguments: ["", "message", "message:", "letter:a/b", "Message:a/b", ":a", "message/a:b"])
    func otherTextsNameNothing(text: String) {
        #expect(EntityReference(text) == nil)
    }

    @Test(arguments: EntityReference.Kind.allCases)
    func everyNameCanBeReadBack(kind: EntityReference.Kind) {
        let things = [
            ["a/b", "c", "d"], ["a", "b/c", "d"], ["%2F", "%", "%%41"], ["\n", "\u{7F}", "é"], ["e\u{301}"],
        ]
        for parts in things {
            let reference = EntityReference(kind: kind, parts: parts)
            #expect(EntityReference(reference.description) == reference)
            #expect(!reference.description.contains("\n"))
        }
    }

    @Test func differentThingsHaveDifferentNames() {
        let things = [["a/b", "c", "d"], ["a", "b/c", "d"], ["a", "b", "c/d"], ["\u{E9}"], ["e\u{301}"]]
        let references = things.map { EntityReference(kind: .message, parts: $0) }
        #expect(Set(references).count == 5)
        #expect(Set(references.map { Array($0.description.utf8) }).count == 5)
    }

    @Test(arguments: [
        ("message:vibe/general/7", true), ("message:general/7", true), ("message:7", true), ("message:vibe/7", true),
        ("message:vibe/general", false), ("message:other/general/7", false), ("message:17", false),
        ("message:l/7", false),
    ])
    func partsMayBeLeftOut(text: String, fits: Bool) throws {
        #expect(try #require(EntityReference(text)).fits(["vibe", "general", "7"]) == fits)
    }

    @Test func slashesNeedNotBeEncoded() throws {
        for text in ["row:app/files/a/b", "row:a/b", "row:a%2Fb", "row:app/a/b"] {
            #expect(try #require(EntityReference(text)).fits(["app", "files", "a/b"]))
        }
    }
}
