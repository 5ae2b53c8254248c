import EventLog
import Foundation
import Kinds
import TestSupport
import Testing

@testable import Ingest
@testable import Playback
@testable import Projections
@testable import logtool

/// Every kind has one row, and the pages list what the code has.
@Suite struct KindTableTests {
    /// A row as docs/evolution.md has it.
    private static func row(_ kind: KnownKind) -> String {
        let capture = CaptureKind.allCases.first { $0.known == kind }?.rawValue ?? ""
        let messages = HARKind.allCases.first { $0.frame == kind }.map { "messages of \($0.rawValue)" }
        let answers = HARKind.allCases.first { $0.answer == kind }.map { "answers of \($0.rawValue)" }
        let form = PlayForm.allCases.first { $0.kind == kind }.map { " of \($0.rawValue)" } ?? ""
        let row = kind.row
        let cells = [
            "`\(kind.rawValue)`", "\(row.family)", row.decoder.rawValue, capture, messages ?? answers ?? "",
            row.play.map { $0.rawValue + form } ?? "", row.shrink.rawValue, title(row.title),
        ]
        return "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined()
    }

    private static func title(_ title: KnownKind.Title?) -> String {
        switch title {
        case nil: ""
        case .gatewayFrame: "the dispatch or opcode"
        case .realtimeFrame: "the change and its table, or the event"
        case .streamEvent: "the field `event`"
        case .member(let name): "the member `\(name)`"
        case .count(let noun, _): "how many of \(noun)"
        }
    }

    private static func rows(of page: String) throws -> [String] {
        let text = try String(contentsOf: PackageRoot.url.appending(path: page), encoding: .utf8)
        return text.split(separator: "\n").map(String.init).filter { $0.contains(/^\| `[a-z]+\.[a-z]+\/[0-9]+` \|/) }
    }

    @Test func thePageShowsTheTable() throws {
        #expect(try Self.rows(of: "docs/evolution.md") == KnownKind.allCases.map(Self.row))
    }

    @Test func thePageOfEventsListsEveryKind() throws {
        let listed = try Self.rows(of: "docs/events.md").compactMap { $0.split(separator: "`").dropFirst().first }
        #expect(
            Set(listed.filter { !$0.hasPrefix("logtool.") }.map(String.init)) == Set(KnownKind.allCases.map(\.rawValue))
        )
    }

    /// A kind is spelled in the table alone. Comments, help and pages may name one.
    @Test func noOtherFileSpellsAKind() throws {
        let root = PackageRoot.url.appending(path: "Sources").resolvingSymlinksInPath().path
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(".swift") }
        for path in paths where path != "Kinds/KnownKind.swift" {
            let text = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
            for kind in KnownKind.allCases { #expect(!text.contains("\"\(kind.rawValue)\""), "\(path)") }
        }
    }
}
