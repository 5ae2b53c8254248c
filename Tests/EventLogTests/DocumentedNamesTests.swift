import Foundation
import TestSupport
import Testing

/// What the pages about the code name is there.
@Suite struct DocumentedNamesTests {
    private static let pages =
        ["ARCHITECTURE.md", "INVARIANTS.md", "docs/glossary.md", "docs/evolution.md"]
        + ((try? FileManager.default.contentsOfDirectory(atPath: PackageRoot.url.appending(path: "docs/decisions").path))
        ?? [])
        .sorted().map { "docs/decisions/" + $0 }
    /// Words of the language, of libraries and of the package's description.
    private static let foreign: Set<String> = [
        "Codable", "Set", "Dictionary", "Double", "JSONSerialization", "Recorders", "CLibCrypto", "CLibYAML",
    ]
    /// What pages name as an example of a file to add.
    private static let examples: Set<String> = ["Sources/Projections/Decoding/Todo/TodoDecoder.swift"]

    /// The files and folders of the package that are text of its own.
    private static func paths() throws -> [String] {
        try ["Sources", "Tests", "Benchmarks", "docs"].flatMap { folder in
            let root = PackageRoot.url.appending(path: folder).resolvingSymlinksInPath().path
            return [folder] + (try FileManager.default.subpathsOfDirectory(atPath: root)).map { folder + "/" + $0 }
        }
    }

    private static func quoted(in page: String) throws -> [String] {
        let text = try String(contentsOf: PackageRoot.url.appending(path: page), encoding: .utf8)
        // Blocks of code quote with three marks: the text outside of them alternates.
        let prose = text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        return prose.flatMap { part in
            part.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
    }

    private static func isTypeName(_ text: some StringProtocol) -> Bool {
        text.first?.isUppercase == true && text.contains(where: \.isLowercase)
            && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    @Test func eachTypeThatAPageNamesExists() throws {
        let paths = try Self.paths()
        // Tests are named as their files are.
        let files = paths.compactMap { $0.split(separator: "/").last?.split(separator: ".").first.map(String.init) }
        let known = try SourceText.all().reduce(into: Self.foreign.union(files)) {
            $0.formUnion($1.types)
            $0.insert($1.module)
        }
        #expect(Self.pages.count > 20)
        for page in Self.pages {
            let names = try Self.quoted(in: page).compactMap { $0.split(separator: ".").first.map(String.init) }
            #expect(names.filter { Self.isTypeName($0) && !known.contains($0) } == [], "\(page)")
        }
    }

    @Test(arguments: pages + ["docs/profiles.md"]) func eachPathThatAPageNamesExists(page: String)
        throws
    {
        let paths = try Self.paths()
        let isPath = { (text: String) in
            text.hasSuffix(".swift")
                || ["Sources/", "Tests/", "EventLog/", "Ingest/", "Projections/", "logtool/"].contains {
                    text.hasPrefix($0)
                }
        }
        let named = try Self.quoted(in: page).filter { isPath($0) && !$0.contains(" ") && !$0.contains("*") }
        let lacking = named.filter { !Self.examples.contains($0) }.filter { name in
            let path = name.hasSuffix("/") ? String(name.dropLast()) : name
            return !paths.contains { ("/" + $0).hasSuffix("/" + path) || ("/" + $0).hasSuffix("/" + path + ".swift") }
        }
        #expect(lacking == [])
    }

    /// Comments cite invariants by number: `(I9)`.
    @Test func eachInvariantThatACommentCitesExists() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "INVARIANTS.md"), encoding: .utf8)
        let known = Set(
            page.split(separator: "\n").filter { $0.hasPrefix("| I") }.compactMap {
                $0.split(separator: " ").dropFirst().first
            }
        )
        var cited: Set<Substring> = []
        for path in try Self.paths() where path.hasPrefix("Sources/") && path.hasSuffix(".swift") {
            let text = try String(contentsOf: PackageRoot.url.appending(path: path), encoding: .utf8)
            for line in text.split(separator: "\n") where line.contains("///") && line.contains("I") {
                let words = line.split { !($0.isLetter || $0.isNumber) }
                cited.formUnion(
                    words.filter { $0.first == "I" && $0.count > 1 && $0.dropFirst().allSatisfy(\.isNumber) }
                )
            }
        }
        #expect(known.count > 20 && cited.count > 10)
        #expect(cited.subtracting(known).sorted() == [])
    }
}
