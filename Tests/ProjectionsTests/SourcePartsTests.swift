import EventLog
import Testing

@testable import Projections

/// A decoder or fold that is not in the list would be saved, and neither fed nor compacted.
@Suite struct SourcePartsTests {
    @Test func everyPartIsInTheList() {
        let parts = SourceParts()
        let listed = parts.all.map { "\(type(of: $0.part))" }
        let stored = Mirror(reflecting: parts).children.map { "\(type(of: $0.value))" }
        // What a client of any app remembers is neither.
        #expect(Set(stored) == Set(listed).union(["GenericClient"]))
        #expect(Set(parts.all.map(\.name)).count == listed.count)
    }

    @Test func eachSectionButTheIssuesHasAFold() {
        for section in Section.allCases {
            #expect((SourceParts().fold(for: section) == nil) == (section == .issues), "\(section)")
        }
    }
}
