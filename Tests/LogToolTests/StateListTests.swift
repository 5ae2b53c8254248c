import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// The lists that caches are filled from.
@Suite struct StateListTests {
    @Test(arguments: Scenario.all)
    func aRowHasNoMemberThatItsListDoesNotName(scenario: Scenario) throws {
        try forEachRow(of: scenario) { list, row in
            for member in row.object?.members ?? [] {
                #expect(list.members.contains(member.name), "\(list.name) has \(member.name)")
            }
            for member in list.keyMembers { #expect(row[member] != nil, "\(list.name) lacks \(member)") }
        }
    }

    /// A path of a cache's map is checked by these shapes.
    @Test(arguments: Scenario.all)
    func aMembersValuesHaveItsShape(scenario: Scenario) throws {
        try forEachRow(of: scenario) { list, row in
            for member in row.object?.members ?? [] {
                guard let shape = list.shape(of: member.name) else {
                    Issue.record("\(list.name).\(member.name) has no shape")
                    continue
                }
                #expect(fits(member.value, shape), "\(list.name).\(member.name): \(member.value.text)")
            }
        }
    }

    private func fits(_ value: JSONValue, _ shape: MemberShape) -> Bool {
        switch shape {
        case .open: true
        case .scalar: value.object == nil && value.array == nil
        case .list(let element): value.array?.allSatisfy { fits($0, element) } ?? false
        case .object(let members):
            value.object?.members.allSatisfy { member in
                members.first { $0.name == member.name }.map { fits(member.value, $0.shape) } ?? false
            } ?? false
        }
    }

    @Test(arguments: Scenario.all)
    func listsOfTheDocumentHaveItsRows(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        var state = try store.read { try Replay.logState(of: $0) }
        let document = state.document()
        for section in Section.allCases {
            var rows: [JSONValue] = []
            state.forEachRow(of: .section(section), asOf: state.clock ?? Timestamp(seconds: 0)) { row in
                guard case .object(var members) = row else { return }
                members["order"] = nil
                rows.append(.object(members))
            }
            #expect(rows == document[section.rawValue]?.array, "\(section)")
        }
    }

    @Test(arguments: Scenario.all)
    func aLentRowGivesTheValuesOfItsDocument(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let state = try scenario.log(in: directory).read { try Replay.logState(of: $0) }
        let fields = LentEntry.Field.allCases.map { ["fields", $0.rawValue] }
        for list in [StateList.section(.messages), .section(.deletedMessages), .history(.message)] {
            let paths = list.members.map { [$0] } + fields + [["replyTo", "id"], ["replyTo", "state"]]
            state.forEachListedRow(of: list, asOf: state.clock ?? Timestamp(seconds: 0)) { row in
                let json = row.json
                for names in paths {
                    let value = names.reduce(json) { $0?[$1] }
                    #expect(row.value(at: names, RowPath(names, in: list)).json == value, "\(list.name) \(names)")
                }
            }
        }
    }

    /// Merged, the entries of each message stay together and in order.
    @Test(arguments: Scenario.all)
    func mergedHistoriesAreTheSameHistories(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let state = try scenario.log(in: directory).read { try Replay.logState(of: $0) }
        func histories(merged: Bool) -> [[String]: [JSONValue]] {
            var (found, last): ([[String]: [JSONValue]], [String]?) = ([:], nil)
            let time = state.clock ?? Timestamp(seconds: 0)
            state.forEachListedRow(of: .history(.message), asOf: time, mergesHistories: merged) { row in
                let key = ["source", "channel", "id"].compactMap { row.json[$0]?.string }
                #expect(key == last || found[key] == nil, "the history of \(key) is in two parts")
                found[key, default: []].append(row.json)
                last = key
            }
            return found
        }
        #expect(histories(merged: true) == histories(merged: false))
    }

    @Test(arguments: Scenario.all)
    func groupedPlacesAreThoseOfEachChannel(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let state = try scenario.log(in: directory).read { try Replay.logState(of: $0) }
        for source in state.sources {
            let (messages, names) = (source.parts.messages, source.context.names)
            let groups = GroupedPlaces(messages, names)
            #expect(groups.channels.map(\.id) == messages.channels(names))
            for channel in groups.channels {
                for section in [Section.messages, .deletedMessages] {
                    let places = messages.places(in: section, of: channel.id, names)
                    #expect(Array(groups.places(in: section, of: channel)) == places)
                }
            }
        }
    }

    @Test(arguments: Scenario.all)
    func theOrderOfAMessageSortsAsItsChannelDoes(scenario: Scenario) throws {
        var last: [[String]: String] = [:]
        try forEachRow(of: scenario) { list, row in
            guard list == .section(.messages), let order = row["order"]?.string else { return }
            let channel = ["source", "channel"].compactMap { row[$0]?.string }
            if let before = last[channel] {
                #expect(before.utf8.lexicographicallyPrecedes(order.utf8), "\(before) is not before \(order)")
            }
            last[channel] = order
        }
    }

    /// Ids of any length, with zeros before them, and none at all.
    @Test func idsSortAsIntegersOfAnySize() {
        var names = Names()
        let texts = [
            "", "0", "00", "7", "07", "007", "12", "9999999999", "10000000000", "18446744073709551616", "x", "~",
        ]
        let messages = texts.map { OrderedMessage(place: 0, id: names.id($0), order: .byID, createdAt: nil) }
        for left in messages {
            for right in messages where left.id != right.id {
                #expect(
                    OrderedMessage.precedes(left, right, names)
                        == left.text(names).utf8.lexicographicallyPrecedes(right.text(names).utf8),
                    "\(names.text(left.id)) and \(names.text(right.id))"
                )
            }
        }
    }

    @Test func timesBefore1970SortFirst() {
        var names = Names()
        let times: [Timestamp?] = [
            nil, Timestamp(seconds: -5), Timestamp(seconds: -5, nanoseconds: 1), Timestamp(seconds: 0),
            Timestamp(seconds: 5),
        ]
        let texts = times.map {
            OrderedMessage(place: 0, id: names.id("a"), order: .byCreation, createdAt: $0).text(names)
        }
        #expect(texts == texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    private func forEachRow(of scenario: Scenario, _ body: (StateList, JSONValue) -> Void) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        let state = try store.read { try Replay.logState(of: $0) }
        for list in StateList.all {
            state.forEachRow(of: list, asOf: state.clock ?? Timestamp(seconds: 0)) { body(list, $0) }
        }
    }
}
