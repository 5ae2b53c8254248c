import Foundation
import TestSupport
import Testing

@testable import Clients
@testable import Projections
@testable import logtool

@Suite struct DivergenceTests {
    private static let clients = Profile.allCases.filter { $0 != .canonical }

    /// The rows of the tables below each heading of a file in `docs`.
    private func tables(of file: String) throws -> [String: [String]] {
        let url = PackageRoot.url.appending(path: "docs/\(file)")
        let chapters = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n## ").dropFirst()
        let pairs = chapters.map { chapter in
            let lines = chapter.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let table = lines.filter { $0.hasPrefix("| ") }.dropFirst(2)
            return (lines[0], Array(table))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test(arguments: clients)
    func theDocsHaveTheRowsThatTheCommandPrints(profile: Profile) throws {
        let table = try tables(of: "profiles.md")[profile.rawValue] ?? []
        let rows = profile.divergences.map(\.row)
        #expect(Set(table).subtracting(rows).isEmpty, "in the docs alone")
        #expect(Set(rows).subtracting(table).isEmpty, "in the program alone")
        #expect(table == rows)
    }

    @Test func eachBugThatARowNamesIsOnTheList() throws {
        let bugs = try tables(of: "bugs.md").mapValues { rows in
            Set(rows.compactMap { $0.dropFirst(2).split(separator: " ").first.map(String.init) })
        }
        for profile in Self.clients {
            for row in profile.divergences {
                let source = row.source(of: profile)
                if profile.app == Profile.anyApp {
                    let unknown = Self.bugs(of: row).filter { bugs[$0.app]?.contains($0.bug) != true }
                    #expect(unknown.isEmpty, "\(profile.rawValue)")
                    #expect(!Self.bugs(of: row).isEmpty && source == "any app: as bug \(row.reference)")
                    continue
                }
                let app = source.prefix { $0 != ":" }
                #expect(["VibeChannel", "Punchlist", "VibeStatus", "sideBar", "Retrocast"].contains(String(app)))
                guard let named = source.components(separatedBy: "bug ").dropFirst().first else { continue }
                for bug in named.components(separatedBy: ", ").flatMap({ $0.components(separatedBy: " to ") }) {
                    #expect(bugs[String(app)]?.contains(bug) == true, "\(profile.rawValue): \(bug)")
                }
            }
        }
    }

    /// The bugs that the row of a reading of any app names: `Retrocast B2, B3; VibeChannel VC-B09`.
    private static func bugs(of row: Divergence) -> [(app: String, bug: String)] {
        row.reference.components(separatedBy: "; ").flatMap { part in
            let words = part.split(separator: " ", maxSplits: 1).map(String.init)
            return (words.last ?? "").components(separatedBy: ", ").map { (words[0], $0) }
        }
    }

    @Test(arguments: [
        ("VC-D02 to VC-D13", Profile.vibechannelIOS, "VibeChannel: divergence VC-D02 to VC-D13"),
        ("PL-D05 (stream)", .punchlistIOS, "Punchlist: divergence PL-D05"),
        ("(PL-B14, PL-B15)", .punchlistIOS, "Punchlist: bug PL-B14, PL-B15"),
        ("V10, B3, B15", .vibestatusPhone, "VibeStatus: divergence V10; bug B3, B15"),
        ("(5.3, B11)", .retrocastWeb, "Retrocast: bug B11"), ("(5.3)", .retrocastWeb, "Retrocast: the client's code"),
        ("VC-S5", .vibechannelIOS, "VibeChannel: bug VC-S5"),
    ])
    func theSourceNamesTheAppAndWhatIsKnownOfIt(reference: String, profile: Profile, source: String) {
        #expect(Divergence(reference, "", [], []).source(of: profile) == source)
    }

    @Test func theCommandSaysWhatEachRuleIsAbout() throws {
        let directory = try TemporaryDirectory()
        let text = try ToolRun.run(["profiles"], in: directory).output
        #expect(
            text.contains(
                "\n  reactionsAreIgnored\n    passes over reactions (Retrocast: divergence D20)\n"
            )
        )
        #expect(
            text.contains(
                "\nvibestatus-mac@1.4\n  as vibestatus-mac, and:\n  sessionsLastHalfAMinute\n"
                    + "    shows a session for half a minute after its last write (VibeStatus: bug B9)\n"
            )
        )
        let rows = try JSONValue.parse(try ToolRun.run(["profiles", "--json"], in: directory).output).array ?? []
        #expect(rows.map { $0["profile"]?.string } == Profile.allCases.map(\.rawValue))
        for row in rows {
            let rules = Set((row["rules"]?.array ?? []).compactMap(\.string))
            let about = (row["divergences"]?.array ?? []).flatMap { $0["rules"]?.array ?? [] }.compactMap(\.string)
            #expect(Set(about) == rules, "\(row["profile"]?.string ?? "")")
        }
    }
}
