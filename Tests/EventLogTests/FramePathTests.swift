import Foundation
import TestSupport
import Testing

/// The two lists of `ARCHITECTURE.md` that follow one gateway frame: they are short, and all that they name exists.
@Suite struct FramePathTests {
    private static let stationsMax = 15

    /// One line of a list: `` 1. `File.swift`, `function`: what it does. ``
    private struct Station {
        let file: String
        let function: String
        /// The quoted words behind the colon.
        let others: [String]
    }

    private let lists: [[Station]]
    /// All code, by path below `Sources`. Bytes, which are searched many times as fast as texts in a build for debugging.
    private let code: [String: Data]

    init() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        lists = try Self.lists(in: page)
        let root = PackageRoot.url.appending(path: "Sources").resolvingSymlinksInPath().path
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(".swift") }
        code = try paths.reduce(into: [:]) { code, path in
            code[path] = try Data(contentsOf: URL(fileURLWithPath: root + "/" + path))
        }
    }

    private static func lists(in page: String) throws -> [[Station]] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "## The path of one gateway frame"))
        var texts: [[String]] = []
        for line in lines[(start + 1)...].prefix(while: { !$0.hasPrefix("#") }) {
            if line.hasPrefix("1. ") { texts.append([]) }
            if line.first?.isNumber == true {
                texts[texts.count - 1].append(String(line))
            } else if line.hasPrefix("   "), let last = texts.last?.last {
                texts[texts.count - 1][texts[texts.count - 1].count - 1] = last + line
            }
        }
        return try texts.map { list in
            try list.enumerated().map { index, text in
                try #require(text.hasPrefix("\(index + 1). `"), "\(text)")
                let quoted = text.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }
                    .map { String($0.element) }
                try #require(quoted.count >= 2 && text.contains("`, `\(quoted[1])`: "), "\(text)")
                return Station(file: quoted[0], function: quoted[1], others: Array(quoted.dropFirst(2)))
            }
        }
    }

    @Test func eachListHasFewStationsAndEachFileOnce() {
        #expect(lists.count == 2)
        for list in lists {
            #expect((10...Self.stationsMax).contains(list.count))
            #expect(Set(list.map(\.file)).count == list.count)
        }
    }

    @Test func eachFileHasItsFunction() {
        for station in lists.joined() {
            let hasFunction = Self.declares(station.function, in: code[station.file] ?? Data())
            #expect(hasFunction, "\(station.file) has no \(station.function)")
        }
    }

    /// `Type.function` is declared in a file that defines or extends the type; a function alone, in the station's file.
    @Test func eachFunctionThatAStationAsksExists() {
        var count = 0
        for station in lists.joined() {
            for name in station.others where !name.contains(" ") {
                let parts = name.split(separator: ".").map(String.init)
                guard let function = parts.last, function.first?.isLowercase == true else { continue }
                count += 1
                let homes =
                    parts.count == 1
                    ? [code[station.file] ?? Data()]
                    : code.values.filter { Self.definesOrExtends(parts[0], in: $0) }
                let isThere = homes.contains { Self.declares(function, in: $0) }
                #expect(isThere, "\(name), which \(station.file) asks")
            }
        }
        #expect(count > 20)
    }

    private static func declares(_ function: String, in code: Data) -> Bool {
        let beginning = function == "init" ? "init" : "func \(function)"
        return ["(", "<", "?("].contains { code.range(of: Data((beginning + $0).utf8)) != nil }
    }

    private static func definesOrExtends(_ type: String, in code: Data) -> Bool {
        guard code.range(of: Data(type.utf8)) != nil else { return false }
        return ["struct", "class", "enum", "protocol", "extension"].contains { kind in
            [" ", ":", "<", "\n"].contains { code.range(of: Data("\(kind) \(type)\($0)".utf8)) != nil }
        }
    }
}
