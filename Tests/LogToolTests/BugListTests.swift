import Clients
import EventLog
import EventLogTesting
import Foundation
import TestSupport
import Testing

@testable import Projections

/// One row of a table of `docs/bugs.md`.
private struct BugRow {
    static let statuses = ["client's failure shown", "right state shown", "outcome recorded", "out of reach"]

    let bug: String
    let status: String
    /// What the last column quotes, in order.
    let quoted: [String]

    /// Reads a line of the file; `nil` where it is no row of a bug.
    init?(_ line: Substring) {
        let cells = line.split(separator: " | ", omittingEmptySubsequences: false).map(String.init)
        guard cells.count == 4, line.hasPrefix("| "), line.hasSuffix(" |"), Self.statuses.contains(cells[2]) else {
            return nil
        }
        bug = String(cells[0].dropFirst(2))
        status = cells[2]
        let pieces = cells[3].split(separator: "`", omittingEmptySubsequences: false)
        quoted = pieces.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// The scenario that the row names first and, behind an `@`, the event after which the failure shows; without one it
    /// shows at the end.
    var place: (scenario: String, point: SequenceNumber?)? {
        guard let pieces = quoted.first?.split(separator: "@"), let scenario = pieces.first, pieces.count <= 2 else {
            return nil
        }
        guard pieces.count == 2 else { return (String(scenario), nil) }
        return UInt64(pieces[1]).map { (String(scenario), SequenceNumber($0)) }
    }

    /// The name before an `@` and a sequence.
    static func scenario(of quoted: String) -> String {
        let pieces = quoted.split(separator: "@")
        return pieces.count == 2 && UInt64(pieces[1]) != nil ? String(pieces[0]) : quoted
    }

    static let all: [BugRow] = {
        let url = PackageRoot.url.appending(path: "docs/bugs.md")
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { BugRow($0) }
    }()
}

@Suite struct BugListTests {
    private static var text: String {
        get throws {
            try String(contentsOf: PackageRoot.url.appending(path: "docs/bugs.md"), encoding: .utf8)
        }
    }

    @Test func everyBugHasARowAndTheTextCountsThem() throws {
        #expect(BugRow.all.count == 165)
        #expect(Set(BugRow.all.map(\.bug)).count == 165 - Self.sharedNames)
        for status in BugRow.statuses {
            let count = BugRow.all.filter { $0.status == status }.count
            #expect(try Self.text.contains("| \(status) | \(count) |"), "\(status): \(count)")
        }
    }

    /// Retrocast and VibeStatus both number their bugs from B1.
    private static let sharedNames = 19

    @Test func everyScenarioThatARowNamesIsThere() {
        let known = Set(Scenario.all.map(\.testDescription))
        for row in BugRow.all where row.status == "client's failure shown" {
            #expect(row.place.map { known.contains($0.scenario) } == true, "\(row.bug)")
        }
        let apps = ["retrocast-", "vibestatus-", "punchlist-", "sidebar-", "vibechannel-"]
        let profiles = Set(Profile.allCases.map(\.rawValue))
        for row in BugRow.all {
            let names = row.quoted.map { BugRow.scenario(of: $0) }.filter { name in
                apps.contains { name.hasPrefix($0) } && !profiles.contains(name) && !name.contains(":")
                    && !name.hasSuffix(".json")
            }
            #expect(Set(names).subtracting(known).isEmpty, "\(row.bug)")
        }
    }

    /// A row's client shows otherwise, in its golden of the end or of the row's point, the one member that the row names;
    /// without one, whether the thing is there.
    @Test func everyClientsFailureIsInItsGolden() throws {
        for row in BugRow.all where row.status == "client's failure shown" {
            let quoted = row.quoted
            guard quoted.count >= 3, let profile = Profile(rawValue: quoted[1]), let place = row.place,
                let scenario = Scenario.all.first(where: { $0.testDescription == place.scenario }),
                let reference = EntityReference(quoted[2])
            else {
                Issue.record("\(row.bug): the row names no scenario, profile and entity")
                continue
            }
            let goldens = try [Profile.canonical, profile].map {
                try StateGolden(scenario.golden(of: FixtureState($0, at: place.point)))
            }
            let facts = goldens.map { $0.fact(reference, member: quoted.dropFirst(3).first) }
            #expect(facts[0] != facts[1], "\(row.bug): \(reference) is the same to both")
            #expect(facts.contains { $0 != nil }, "\(row.bug): \(reference) is in neither")
        }
    }
}

/// A state document that a scenario holds.
private struct StateGolden {
    private let document: JSONValue

    init(_ file: URL) throws {
        document = try JSONValue.parse(String(contentsOf: file, encoding: .utf8))
    }

    /// What the state says of an entity or of one of its members; `nil` where it has none. The text of a row without a
    /// member is that of the section that it stands in.
    func fact(_ reference: EntityReference, member: String?) -> String? {
        if member == "order" { return order(of: reference) }
        for section in reference.kind.sections {
            for row in document[section.rawValue]?.array ?? [] {
                let parts = section.keyMembers.map { row[$0]?.string ?? "" }
                guard parts == reference.parts else { continue }
                guard let member else { return section.rawValue }
                let value = member.split(separator: ".").reduce(Optional(row)) { $0?[String($1)] }
                return value?.canonicalText ?? "nothing"
            }
        }
        return nil
    }

    private func order(of channel: EntityReference) -> String {
        let rows = document["messages"]?.array ?? []
        let ids = rows.filter { [$0["source"]?.string, $0["channel"]?.string] == channel.parts }
        return ids.compactMap { $0["id"]?.string }.joined(separator: " ")
    }
}
