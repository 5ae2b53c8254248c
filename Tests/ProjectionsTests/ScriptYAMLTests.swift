import TestSupport
import Testing

@testable import Clients
@testable import Projections

/// YAML as js-yaml 3.14.2 reads it: each text, and JavaScript's text of the value under `x`.
@Suite struct ScriptYAMLTests {
    @Test(arguments: [
        ("x: ann", "ann"), ("x: ann # me", "ann"), ("x: ann\n  lee\n\n  may", "ann lee\nmay"),
        ("x: 'o''brien'", "o'brien"),
        ("x: \"a\\x41\\u263A\\U0001F600\\n\"", "aA\u{263A}\u{1F600}\n"), ("x: \"\\uD83D\\uDE00\"", "\u{1F600}"),
        ("x: \"a \\\n   b\"", "a b"), ("x: \"a\n\n  b\"", "a\nb"), ("x: a:b", "a:b"),
        ("x: |\n  a\n   b\n\n  c\n\n", "a\n b\n\nc\n"), ("x: >-\n  a\n  b\n\n  c\n   d\n  e", "a b\nc\n d\ne"),
        ("x: |+\n  a\n\n", "a\n\n"), ("x: |2\n   a", " a\n"), ("x: |", ""), ("x:\n  # comment\n  a\n# end", "a"),
    ])
    func scalarsAreReadWithTheirLinesFolded(text: String, value: String) throws {
        #expect(try x(of: text) == value)
    }

    @Test(arguments: [
        ("x: .5", "0.5"), ("x: 5.", "5"), ("x: -.5", "-.5"), ("x: 1:30", "90"), ("x: 190:20:30", "685230"),
        ("x: 1:30.5", "90.5"),
        ("x: .inf", "Infinity"), ("x: -.INF", "-Infinity"), ("x: +.Inf", "Infinity"), ("x: .NaN", "NaN"),
        ("x: -.nan", "-.nan"),
        ("x: 1e400", "Infinity"), ("x: 1e3", "1000"), ("x: 1.5E-9", "1.5e-9"), ("x: 1e21", "1e+21"),
        ("x: 123456789012345680000", "123456789012345680000"),
        ("x: 9007199254740993", "9007199254740992"), ("x: 0x1F", "31"), ("x: -0x1f", "-31"), ("x: 0b101", "5"),
        ("x: 0o17", "0o17"),
        ("x: 017", "15"), ("x: 09", "09"), ("x: 1_000", "1000"), ("x: 1_000_", "1_000_"), ("x: _1", "_1"),
        ("x: +12", "12"), ("x: -0", "0"), ("x: -0.0", "0"), ("x: 0x20000000000001", "9007199254740992"),
        ("x: 0x20000000000003", "9007199254740996"),
        ("x: 1:60", "1:60"), ("x: 01:30", "01:30"), ("x: 0x", "0x"), ("x: 1.2.3", "1.2.3"), ("x: True", "true"),
        ("x: yes", "yes"), ("x: NULL", "null"),
    ])
    func numbersAreThoseOfYAML11(text: String, value: String) throws {
        #expect(try x(of: text) == value)
    }

    @Test(arguments: [
        ("x: 2025-03-04", "Tue Mar 04 2025 00:00:00"), ("x: 2025-13-32", "Sun Feb 01 2026 00:00:00"),
        ("x: 0001-01-01", "Tue Jan 01 1901 00:00:00"),
        ("x: 2025-3-4 5:06:60.1234 +1", "Tue Mar 04 2025 04:07:00"),
        ("x: 2025-03-04T25:00:00Z", "Wed Mar 05 2025 01:00:00"),
        ("x: 1969-12-31 23:59:59", "Wed Dec 31 1969 23:59:59"),
        ("x: !!timestamp '2025-03-04'", "Tue Mar 04 2025 00:00:00"),
    ])
    func timesRunOver(text: String, value: String) throws {
        #expect(try x(of: text) == value + " GMT+0000 (Coordinated Universal Time)")
    }

    @Test(arguments: [
        ("x: [a, [b, ~], {c: d}, 1.0]", "a,b,,[object Object],1"), ("x: [a, , b]", "a,,b"),
        ("x: [a: b, ? c]", "[object Object],[object Object]"),
        ("x:\n- a\n-\n- - b\n  - c", "a,,b,c"), ("x: ? a", "null"),
        ("a: &m {x: 1, y: 2}\n<<: *m\nx: 3", "3"), ("a: &m {x: 1}\n<<: [*m, {x: 2}]", "1"),
        ("[a, b]: c\nx: d", "d"), ("? x\n: y", "y"), ("{a: b}: c\nx: d", "d"), ("\"x\": a", "a"), ("a: 1\n\tx: y", "y"),
        ("a: &b c\nx: *b", "c"), ("x: &a [*a]", ""), ("x: !!str 12", "12"), ("x: !!int '12'", "12"), ("x: ! 12", "12"),
        ("x: !!binary aGk=", "hi"),
        ("x: !!set {a, b}", "[object Object]"), ("x: !!pairs [a: b]", "a,b"), ("x: !!str", ""), ("x: !!seq", ""),
        ("x: !<tag:yaml.org,2002:str> 12", "12"),
        ("x: !!str\n  12", "12"), ("'<<': a\nx: b", "b"), ("x: a\n...", "a"),
    ])
    func collectionsTagsAndAliases(text: String, value: String) throws {
        #expect(try x(of: text) == value)
    }

    @Test(arguments: [
        "", "x: a\nx: b", "x: [1", "x: {a", "x: 'a", "x: \"a", "x: \"\\q\"", "x: @ann", "x: a: b", "from:ann\nx: b",
        "x: !y a", "x: !!js/undefined ''",
        "x: !!null ''", "!!str x: a", "x: !!int a", "x: *a", "x: &a *a", "x: |0\n a", "x: |--\n a", "x: a\n y: b",
        "x:\n - a\nb", "%YAML 1.1\nx: a", "x: a\n...\ny: b",
        "<<: a\nx: b", "[[a]]: b\nx: c", "? a\n? a", "x: \u{7}", "x: a\0", "- a\nx: b", "x: !!omap [a: 1, a: 2]",
        "x: !!set {a: 1}", "x: & a",
    ])
    func whatJavaScriptsReaderRefusesIsRefused(text: String) {
        #expect(throws: ScriptFault.self) { try x(of: text) }
    }

    @Test func hostileTextIsRefusedInTime() {
        let nested = "x: " + String(repeating: "[", count: 5_000)
        let aliases = (1...30).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }.joined(separator: "\n")
        let merges =
            "a: &a {" + (1...2_000).map { "k\($0): 1" }.joined(separator: ", ") + "}\nb: {<<: ["
            + String(repeating: "*a, ", count: 2_000) + "]}\nx: c"
        for text in [nested, "a0: &a0 [text, text]\n\(aliases)\nx: *a30", merges] {
            #expect(throws: ScriptFault.self) { try x(of: text) }
        }
    }

    /// Each alias puts the list before it 90 levels deeper, so the value would be a hundred thousand levels deep.
    @Test func aliasesCannotNestAValueWithoutBound() throws {
        let (open, close) = (String(repeating: "[", count: 90), String(repeating: "]", count: 90))
        let aliases = (1...1150).map { "a\($0): &a\($0) \(open)*a\($0 - 1)\(close)" }.joined(separator: "\n")
        #expect(throws: ScriptFault.tooDeep) { try ScriptYAML.value(of: "a0: &a0 [text]\n\(aliases)\nx: *a1150") }
        let few = "a0: &a0 [text]\na1: &a1 \(open)*a0\(close)\na2: &a2 \(open)*a1\(close)\nx: *a2"
        #expect(try x(of: few) == "text")
    }

    @Test func aliasesOfALongTextMakeNoMoreThanItsFew() throws {
        let long = "a: &a " + String(repeating: "x", count: 100_000) + "\n"
        let members = (1...20).map { "k\($0): *a\n" }.joined()
        let list = "tags: [" + String(repeating: "*a, ", count: 20) + "]\n"
        let keys = (1...20).map { "? [*a, \($0)]\n: b\n" }.joined()
        for frontMatter in [long + members, long + list, long + keys] {
            let file = ClientFiles(rules: Profile.vibechannelVSCode.rules).file("---\n\(frontMatter)---\ntext")
            #expect(throws: MessageFile.Fault.self) { try TypedFrontMatter.members(of: try #require(file)) }
        }
    }

    /// Whatever bytes stand there: an answer, and no trap.
    @Test func anyTextIsReadOrRefused() {
        let pieces = [
            "a", "b", ":", ": ", "- ", "\n", "\n  ", "\n ", " ", "[", "]", "{", "}", ",", "'", "\"", "|", ">", "&a ",
            "*a", "!",
            "!!str ", "? ", "#", " #", "%", "\t", "<<", "~", "12", ".5", "2025-03-04", "\\", "é", "---", "...", "\r\n",
            "-", "+",
        ]
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<24, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            _ = try? ScriptYAML.value(of: text)
            _ = try? ScriptLiteral.value(of: text)
            _ = ScriptDateParser.milliseconds(of: text)
        }
    }

    private func x(of text: String) throws -> String {
        guard case .object(let members) = try ScriptYAML.value(of: text), let value = members[ExactText("x")] else {
            throw ScriptFault.invalid
        }
        return try value.text()
    }
}
