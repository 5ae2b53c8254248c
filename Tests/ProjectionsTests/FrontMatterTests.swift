import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct FrontMatterTests {
    private static let base = "from: ann\ndate: 2025-03-04T05:06:07Z"

    private func read(_ frontMatter: String, body: String = "hi") -> FrontMatter? {
        try? FrontMatter(file: "---\n\(frontMatter)\n---\n\n\(body)", by: CanonicalFiles())
    }

    private func file(_ text: String) -> FrontMatter? { try? FrontMatter(file: text, by: CanonicalFiles()) }

    @Test func theClientsOwnFormIsRead() {
        let message = read(Self.base + "\nreply_to: 20250304T050000-bob-aa11bb.md\ntags:\n  - a\n  - b\nmood: x")
        #expect(message?.from == "ann")
        #expect(message?.date == Timestamp(rfc3339: "2025-03-04T05:06:07Z"))
        #expect(message?.replyTo == "20250304T050000-bob-aa11bb")
        #expect(message?.tags == ["a", "b"])
        #expect(message?.extra["mood"] == .string("x"))
        #expect(message?.content == "hi")
    }

    @Test(arguments: [
        ("Sat Nov 29 2025 12:35:33 GMT-0500 (Eastern Standard Time)", "2025-11-29T17:35:33Z"),
        ("2025-03-04", "2025-03-04T00:00:00Z"), ("2025-03-04 05:06:07", "2025-03-04T05:06:07Z"),
        ("'2025-03-04T05:06:07'", "2025-03-04T05:06:07Z"), ("2025-03-04 05:06:07 +0200", "2025-03-04T03:06:07Z"),
        ("2025-3-4 5:06:07", "2025-03-04T05:06:07Z"), ("2025-03-04T05:06:07Z # sent", "2025-03-04T05:06:07Z"),
        ("\"2025-03-04T05:06:07.123Z\"", "2025-03-04T05:06:07.123Z"),
        ("Tue, 04 Mar 2025 05:06:07 GMT", "2025-03-04T05:06:07Z"),
    ])
    func datesAreInstants(text: String, instant: String) {
        #expect(read("from: ann\ndate: \(text)")?.date == Timestamp(rfc3339: instant))
    }

    @Test(arguments: ["1741064767", "soon", "20250304T050607Z", "2025-02-30T00:00:00Z", "[2025-03-04]", "~"])
    func whatIsNoDateIsNoMessage(text: String) {
        #expect(read("from: ann\ndate: \(text)") == nil)
    }

    @Test(arguments: [
        ("from: 0123", "0123"), ("from: 1e3", "1e3"), ("from: false", "false"), ("from: 2025-01-01", "2025-01-01"),
        ("from: ann # me", "ann"), ("from: 'o''brien'", "o'brien"), ("from: ann'", "ann'"),
        ("from: ann\n  lee", "ann lee"),
        ("\"from\": ann", "ann"), ("from: &a ann\nreply_to: *a", "ann"), ("<<: {from: ann}", "ann"),
        ("from: 'null'", "null"), ("note: |\n  from: mallory\nfrom: ann", "ann"), ("from: ann---lee", "ann---lee"),
    ])
    func scalarsAreTheTextAsWritten(line: String, from: String) {
        #expect(read(line + "\ndate: 2025-03-04")?.from == from)
    }

    @Test(arguments: [
        "from:", "from: \"\"", "from: null", "from: ~", "from: ann: the first", "from: @ann", "from: #ann", "from:ann",
        "from: ann\nfrom: bob", "from: ann\nx: [1", "from: *a", "- from", "from: {a: b}",
    ])
    func whatIsNoUsableFromIsNoMessage(line: String) {
        #expect(read(line + "\ndate: 2025-03-04") == nil)
    }

    @Test func aFlowMapIsAMap() {
        #expect(read("{from: ann, date: 2025-03-04}")?.from == "ann")
    }

    @Test(arguments: [
        "", "hi", "---\nfrom: ann\ndate: 2025-03-04\n", "hello\n---\nfrom: ann\ndate: 2025-03-04\n---\nhi",
        "\n---\nfrom: ann\ndate: 2025-03-04\n---\nhi", "----\nfrom: ann\ndate: 2025-03-04\n----\n\nhi",
        "---json\n{\"from\":\"ann\",\"date\":\"2025-03-04\"}\n---\nhi", "---js\nprocess.exit()\n---\nhi",
        "---\rfrom: ann\rdate: 2025-03-04\r---\rhi", "---\n---\n", "---", "---\n", " ---\nfrom: a\n---\n",
        "---\nfrom: ann\ndate: 2025-03-04\n ---\nhi",
    ])
    func otherFilesHaveNoUsableFrontMatter(text: String) {
        #expect(file(text) == nil)
    }

    @Test func lineEndsOfWindowsAndAByteOrderMarkAreFine() {
        let message = file("\u{FEFF}---\r\nfrom: ann\r\ndate: 2025-03-04\r\n---\r\n\r\none\r\ntwo\r\n")
        #expect(message?.from == "ann")
        #expect(message?.content == "one\r\ntwo")
    }

    @Test func onlySpacesTabsAndLineEndsAreTrimmed() {
        #expect(read(Self.base, body: "\t \u{85}x\u{FEFF} \r\n\t")?.content == "\u{85}x\u{FEFF}")
        #expect(read(Self.base, body: " \n ")?.content == "")
        #expect(read(Self.base, body: "a\n---\nb")?.content == "a\n---\nb")
    }

    @Test(arguments: [
        ("tags: [a, \"b\"]", ["a", "b"]), ("tags: a,,b", ["a", "b"]), ("tags: x, y", ["x", "y"]), ("tags: 5", ["5"]),
        ("tags:\n  - a b.ts\n  # note\n  - 'c'", ["a b.ts", "c"]), ("tags:\n- >-\n  long/\n  path", ["long/ path"]),
        ("tags: [a---b]", ["a---b"]), ("tags:\n  - a: b.ts", ["{\"a\":\"b.ts\"}"]), ("tags: []", []),
        ("tags: [a, ~]", ["a"]),
    ])
    func listsMayBeListsOrText(line: String, tags: [String]) {
        #expect(read(Self.base + "\n" + line)?.tags == tags)
    }

    @Test func absentListsAreAbsent() {
        #expect(read(Self.base + "\nimages: null")?.images == nil)
        #expect(read(Self.base + "\nreply_to:")?.replyTo == nil)
        #expect(read(Self.base + "\nreply_to: x.md  # optional")?.replyTo == "x")
    }

    @Test func whatIsBeyondTheKnownKeysIsKept() {
        let message = read(
            Self.base + "\nedited: true\ngithub_issue: >-\n  https://h/o/r\nmore: {a: [1, ~], b: {c: d}}"
        )
        #expect(message?.edited == nil)
        #expect(message?.extra["edited"] == .string("true"))
        #expect(message?.extra["github_issue"] == .string("https://h/o/r"))
        #expect(message?.extra["more"]?.canonicalText == "{\"a\":[\"1\",null],\"b\":{\"c\":\"d\"}}")
    }

    @Test func hostileTextCostsLittleAndCrashesNothing() {
        let deep = String(repeating: "[", count: 100_000)
        let bomb =
            "a0: &a0 [x, x, x]\n"
            + (1..<12).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1), *a\($0 - 1)]\n" }.joined()
        for text in [deep, bomb, String(repeating: "- ", count: 10_000), String(repeating: "? ", count: 10_000)] {
            #expect(read(Self.base + "\nx: " + text) == nil)
            #expect(read(text) == nil)
        }
        #expect(read(Self.base + "\nx: " + String(repeating: "y", count: FrontMatter.bytesMax)) == nil)
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func theFastPathGivesWhatAYAMLReaderGives(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var taken = 0
        for _ in 0..<400 {
            let text = RandomFrontMatter.text(&random)
            guard let plain = PlainFrontMatter.members(of: text[...]) else { continue }
            taken += 1
            let members = try? YAMLFrontMatter.members(of: text)
            #expect(plain == members, "seed \(seed): \(text.debugDescription)")
        }
        #expect(taken > 20, "seed \(seed)")
    }
}

extension FrontMatterTests {
    @Test(arguments: ["[a, b]", "[a,b]", "[a]", "[1, 2025]"])
    func aListOfShortWordsTakesTheFastPath(list: String) {
        #expect(PlainFrontMatter.members(of: "tags: \(list)\n")?["tags"]?.array?.isEmpty == false)
    }

    @Test(arguments: ["[]", "[a, null]", "[a, ]", "[a b]", "[a: b]", "[[a]]", "[a", "[a] # b", "['a']", "[ a ]"])
    func anyOtherListIsReadAsYAML(list: String) {
        #expect(PlainFrontMatter.members(of: "tags: \(list)\n") == nil)
    }
}

/// Lines that are nearly or wholly of the plain form.
private enum RandomFrontMatter {
    private static let keys = ["from", "date", "reply_to", "a_1", "x", "null", "true", "on", "1", "_a", "a-b", "<<"]
    private static let parts = [
        "a", "Ann", "null", "~", "1", "0x1f", "1e3", ".5", "/p", "x.md", "2025-03-04T05:06:07Z", " ", "  ", ":", ": ",
        "#",
        " #", "-", "- ", "'", "\"", "[", "]", "{", "}", ",", "!", "&", "*", "|", ">", "%", "@", "`", "?", "=", "\\",
        "\t",
        "é", "---", "...", "\u{7F}", "\u{1}",
    ]

    static func text(_ random: inout SeededGenerator) -> String {
        var lines: [String] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            let isTame = Int.random(in: 0..<3, using: &random) > 0
            var value = (0..<Int.random(in: 0...4, using: &random))
                .map { _ in parts[Int.random(in: 0..<(isTame ? 12 : parts.count), using: &random)] }
            if isTame, Int.random(in: 0..<3, using: &random) == 0 {
                value = ["[", value.joined(separator: [",", ", ", " ,"].randomElement(using: &random) ?? ""), "]"]
            }
            let space = Int.random(in: 0..<12, using: &random) == 0 ? "" : " "
            let end = Int.random(in: 0..<10, using: &random) == 0 ? "\r" : ""
            lines.append("\(key):\(value.isEmpty ? "" : space)\(value.joined())\(end)")
            if Int.random(in: 0..<15, using: &random) == 0 {
                lines.append(["", " ", "  b", "- b", "# c"].randomElement(using: &random) ?? "")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
