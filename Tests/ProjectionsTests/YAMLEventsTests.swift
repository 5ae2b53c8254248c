import TestSupport
import Testing
import Yams

@testable import Projections

@Suite struct YAMLEventsTests {
    /// Reads to the end or to the first fault.
    private func read(_ text: String) -> (fault: YAMLFault?, eventCount: Int) {
        do throws(YAMLFault) {
            let events = try YAMLEvents(text)
            do throws(YAMLFault) {
                while try events.next() != nil {}
                return (nil, events.eventCount)
            } catch {
                return (error, events.eventCount)
            }
        } catch {
            return (error, 0)
        }
    }

    private static func doubled(by break: String) -> String {
        "a0: &a0 {x: y}\n"
            + (1..<20).map { "a\($0): &a\($0) {?\(`break`)*a\($0 - 1) :\(`break`)*a\($0 - 1)}\n" }.joined()
    }

    @Test(arguments: ["\u{85}", "\u{2028}", "\u{2029}", "\r", "\n", " ", "\t", "\r\n"])
    func whatWouldDoubleAtEachLevelIsRefusedAtTheFirst(break: String) {
        let keys = read(Self.doubled(by: `break`))
        #expect(keys.fault == .anchorOnCollection)
        #expect(keys.eventCount <= 6)
        let lists = read("a: &a [x,\(`break`)x]\nb: &b [\(`break`)*a,\(`break`)*a]\n")
        #expect(lists.fault == .anchorOnCollection)
        #expect(lists.eventCount <= 6)
        let list = read("a: &a x\nb: [" + String(repeating: "\(`break`)*a,", count: 10_000) + "]\n")
        #expect(list.fault == .tooLarge)
        #expect(list.eventCount <= YAMLEvents.aliasesMax + 10)
    }

    @Test(arguments: [
        "? {a: b}\n: c", "? [a]\n: c", "{[a]: b}", "{{a: b}: c}", "[a]: b", "? - a\n: b", "x: {? [a] : b}",
    ])
    func keysAreScalars(text: String) {
        #expect(read(text).fault == .keyIsNoScalar)
        #expect(read(text).eventCount <= 6)
    }

    @Test(arguments: [("x: ", "[ "), ("", "{a: "), ("", "- "), ("- ", "[ ")])
    func nestingIsBoundedByEvents(start: String, opening: String) {
        let run = read(start + String(repeating: opening, count: 200_000 / opening.utf8.count))
        #expect(run.fault == .tooDeep)
        #expect(run.eventCount <= 2 * YAMLEvents.depthMax + 10)
    }

    @Test func indentationIsNesting() {
        var indented = ""
        for level in 0..<500 { indented += String(repeating: " ", count: level) + "a:\n" }
        #expect(read(indented).fault == .tooDeep)
        // A line that is far to the right is not deep by itself.
        #expect(read("a:\n" + String(repeating: " ", count: 500) + "b").fault == nil)
    }

    @Test(arguments: ["[", "[[]:a,[", "{a", "\"a\nb\": c", "a\n b: c", "? ", "[[a]:b,[a]:b,"])
    func whatIsNoYAMLIsFoundSoon(opening: String) {
        let run = read(String(repeating: opening, count: 200_000 / opening.utf8.count))
        #expect(run.fault != nil)
        #expect(run.eventCount <= 10)
    }

    @Test func aByteOrderMarkWithinIsPartOfTheText() {
        #expect((try? YAMLFrontMatter.members(of: "a: \u{FEFF}b"))?["a"] == .string("\u{FEFF}b"))
    }

    @Test func valuesAndTextAreBounded() {
        for text in [
            "[" + String(repeating: "a,", count: 100_000) + "]", String(repeating: "- a\n", count: 50_000),
            (0..<20_000).map { "k\($0): v\n" }.joined(), "[" + String(repeating: "[],", count: 70_000) + "]",
            "a: {" + String(repeating: "b,", count: 70_000) + "}",
        ] {
            let run = read(text)
            #expect(run.fault == .tooLarge)
            #expect(run.eventCount <= 2 * YAMLEvents.valuesMax + 10)
        }
        let long = String(repeating: "y", count: 250 << 10)
        #expect(read("a: &a \(long)\nb: [*a, *a, *a]\n").fault == nil)
        #expect(read("a: &a \(long)\nb: [*a, *a, *a, *a, *a]\n").fault == .tooLarge)
    }

    /// libyaml clears a run's buffer for each word, compares directives in pairs and copies a tag's prefix for each tag.
    @Test(arguments: [" ", "\n", "\r", "\r\n", "\t", "\u{85}", "\u{2028}", "\u{2029}", " \n", "\n\u{85}  "])
    func whatLibyamlWouldReadInQuadraticTimeIsNotGivenToIt(blank: String) {
        let run = String(repeating: blank, count: 100_000 / blank.utf8.count)
        let words = String(repeating: "b ", count: 50_000)
        for text in ["x: a\(run)\(words)", "x: 'a\(run)\(words)'", "x: |\n a\(run)\(words)"] {
            #expect(read(text).fault == .costly)
            #expect(read(text).eventCount == 0)
        }
    }

    @Test func directivesAndTagsAreBounded() {
        let directives = (0..<20_000).map { "%TAG !a\($0)! !b\n" }.joined()
        for text in [
            directives, directives.split(separator: "\n").joined(separator: "\u{85}"), "\u{FEFF}" + directives,
        ] {
            #expect(read(text + "--- {a: b}").fault == .costly)
        }
        let prefix = "tag:yaml.org,2002:" + String(repeating: "p", count: 100_000)
        let run = read("%TAG ! \(prefix)\n--- [" + String(repeating: "!x a,", count: 20_000) + "]")
        #expect(run.fault == .unknownTag)
        #expect(run.eventCount <= 4)
        #expect(read("%YAML 1.1\n%TAG !y! tag:yaml.org,2002:\n--- {a: !y!str b}").fault == nil)
        for tag in ["!x", "!<x>", "!!python/object:os.system".replacing("!!", with: "!p/")] {
            #expect(read("a: \(tag) b").fault == .unknownTag)
        }
    }

    @Test func aFileOfSettingsNamesTheLineAtFault() throws {
        func fault(_ text: String) -> YAMLDocument.Fault? {
            do throws(YAMLDocument.Fault) {
                _ = try YAMLDocument.members(of: text)
                return nil
            } catch {
                return error
            }
        }
        let settings = "logs:\n  - path: a\n    sources:\n      - {kind: sse, address: ~}\n"
        let source = try YAMLDocument.members(of: settings)["logs"]?.array?.first?["sources"]?.array?.first
        #expect(source == .object(["kind": .string("sse"), "address": .null]))
        #expect(fault("a: &a {b: c}\nd: *a\n")?.reason == "has an anchor on a list or map")
        #expect(fault(Self.doubled(by: "\u{85}"))?.reason == "has an anchor on a list or map")
        #expect(fault("a: b\nc: [\nd: e\n")?.reason == "is no valid YAML")
        #expect(fault("a: b\n\tc: d\n")?.line == 2)
        #expect(fault("- a\n")?.reason == "is no mapping")
        #expect(fault(String(repeating: "# a\n", count: 300_000))?.reason == "has more than 1048576 bytes")
    }

    @Test func eventsAreNoMoreThanTheTextIsLong() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let text = RandomYAML.text(&random)
            #expect(read(text).eventCount <= 2 * text.utf8.count + 6, "\(text.debugDescription)")
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func whatIsReadIsWhatComposingGives(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var compared = 0
        for _ in 0..<300 {
            let text = RandomYAML.text(&random)
            switch read(text).fault {
            case nil, .invalid: break
            case _?: continue
            }
            let members = try? YAMLFrontMatter.members(of: text)
            #expect(members == Composed.members(of: text), "seed \(seed): \(text.debugDescription)")
            compared += members == nil ? 0 : 1
        }
        #expect(compared > 5, "seed \(seed)")
    }
}

/// The same by composing nodes first.
private enum Composed {
    static func members(of text: String) -> JSONObject? {
        let root = try? Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        guard case .mapping(let mapping)? = root, let members = object(mapping) else { return nil }
        return JSONObject(members: members.members.filter { !$0.value.isNull })
    }

    private static func object(_ mapping: Node.Mapping) -> JSONObject? {
        var members = JSONObject()
        for (key, value) in mapping where !isMerge(key) {
            guard let name = key.scalar?.string, let value = self.value(value) else { return nil }
            members[name] = value
        }
        for (key, value) in mapping where isMerge(key) {
            guard let sources = merged(value) else { return nil }
            for member in sources.flatMap(\.members) where members[member.name] == nil {
                members[member.name] = member.value
            }
        }
        return members
    }

    private static func isMerge(_ key: Node) -> Bool {
        key.scalar?.style == .plain && key.scalar?.string == "<<"
    }

    private static func merged(_ value: Node) -> [JSONObject]? {
        switch value {
        case .mapping(let mapping): return object(mapping).map { [$0] }
        case .sequence(let sequence):
            var sources: [JSONObject] = []
            for element in sequence {
                guard let more = merged(element) else { return nil }
                sources += more
            }
            return sources
        case .scalar, .alias: return nil
        }
    }

    private static func value(_ node: Node) -> JSONValue? {
        switch node {
        case .scalar(let scalar):
            let isAbsent =
                scalar.string.isEmpty || scalar.style == .plain && (scalar.string == "~" || scalar.string == "null")
            return isAbsent ? .null : .string(scalar.string)
        case .sequence(let sequence):
            let elements = sequence.compactMap(value)
            return elements.count == sequence.count ? .array(elements) : nil
        case .mapping(let mapping): return object(mapping).map { .object($0) }
        case .alias: return nil
        }
    }
}

/// Text of the pieces that YAML is made of.
private enum RandomYAML {
    private static let pieces = [
        "a", "b", "é", "e\u{301}", "null", "~", "<<", "\"<<\"", "'q'", "\"d\\n\"", "&x ", "*x", "!!str ", "!!int ",
        "! ",
        "!y ", "[", "]", "{", "}", ", ", "- ", "? ", ": ", ": ", ":", "|\n  ", ">-\n  ", "#", " #", " ", "  ", "\t",
        "\n",
        "\n", "\n  ", "\r\n", "\r", "\u{85}", "\u{2028}", "---\n", "--- ", "...\n", "%YAML 1.1\n", "\u{7F}",
    ]

    static func text(_ random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            if Int.random(in: 0..<4, using: &random) > 0 {
                text += ["a", "b", "c", "'d'", "<<"].randomElement(using: &random) ?? ""
                text += ": "
            }
            let isTame = Int.random(in: 0..<2, using: &random) > 0
            if isTame {
                text += tame.randomElement(using: &random) ?? ""
            } else {
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    text += pieces.randomElement(using: &random) ?? ""
                }
            }
            text += "\n"
        }
        return text
    }

    private static let tame = [
        "x", "&x v", "*x", "[a, 'b', {c: d}]", "{a: 1, b: [~, null]}", "|\n  line\n  two", ">-\n  a\n  b",
        "\n  - a\n  - b: c",
        "\n  k: v\n  l: ~", "!!str 5", "{<<: {a: b}, c: d}", "[{a: b}, {a: c, d: e}]", "\"\\u0041\"", "? a", "x # note",
    ]
}
