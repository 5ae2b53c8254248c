public import Clients
public import EventLog
public import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a state of a fixture differs from the expected one.
public struct FixtureMismatch: Error, CustomStringConvertible, Sendable {
    /// The fixture's name, which is that of its folder.
    public let name: String
    /// The state that differs.
    public let state: FixtureState
    /// The profile of that state.
    public var profile: Profile { state.profile }
    /// All differences; `a` is expected and `b` found. Empty if only what depends on sequences or passing time differs.
    public let differences: [StateDifference]
    /// The last event that changed the first thing that differs; `nil` without one.
    public let responsible: Envelope?
    /// The first line of the two documents that differs.
    let firstLine: (expected: String, found: String)

    init(
        fixture: Fixture,
        state: FixtureState,
        expected: JSONValue,
        found: JSONValue,
        events: FixtureEvents
    ) throws {
        name = fixture.directory.lastPathComponent
        self.state = state
        differences = StateDiff.differences(expected, found)
        responsible = try differences.first.flatMap { try events.last(changing: $0.entity, in: state) }
        let lines = [expected, found].map { Fixture.text(of: $0).split(separator: "\n").map(String.init) }
        let place = zip(lines[0], lines[1]).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let line = place ?? min(lines[0].count, lines[1].count)
        firstLine = (
            line < lines[0].count ? lines[0][line] : "(end)", line < lines[1].count ? lines[1][line] : "(end)"
        )
    }

    /// The fixture, the first difference, and the event responsible, on a line each.
    public var description: String {
        var lines = ["\(name) (\(state.title)): \(summary)"]
        if let first = differences.first {
            lines.append("  \(first.change.rawValue) \(first.entity)")
            if let field = first.fields.first {
                lines.append("    \(field.name): expected \(Self.text(field.a)), found \(Self.text(field.b))")
            }
        } else {
            lines += ["    expected: \(firstLine.expected)", "    found:    \(firstLine.found)"]
        }
        if let responsible {
            lines.append("  event \(responsible.sequence) (\(responsible.kind) from \"\(responsible.source)\")")
        }
        return lines.joined(separator: "\n")
    }

    private var summary: String {
        differences.isEmpty
            ? "the document differs in what sequences and time make of it"
            : differences.count == 1 ? "1 thing differs" : "\(differences.count) things differ"
    }

    private static func text(_ value: JSONValue?) -> String { value?.canonicalText ?? "nothing" }
}
