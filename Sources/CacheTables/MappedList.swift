import Projections

/// A list that a table of a map is filled from: one of the state, or the events of the log themselves, which no state has.
enum MappedList: Hashable, Sendable {
    case state(StateList)
    case events

    /// Every list that a map may name.
    static let all = StateList.all.map { MappedList.state($0) } + [.events]

    /// The list with a name; `nil` if none has it.
    init?(name: String) {
        guard let list = Self.all.first(where: { $0.name == name }) else { return nil }
        self = list
    }

    /// The list's name in a map.
    var name: String {
        switch self {
        case .state(let list): list.name
        case .events: "events"
        }
    }

    /// The members that a row can have.
    var members: [String] {
        switch self {
        case .state(let list): list.members
        case .events: ["sequence", "recordedAt", "source", "kind", "key", "attributes", "redacted", "bytes", "payload"]
        }
    }

    /// The members that identify the thing that a row is about.
    var keyMembers: [String] {
        switch self {
        case .state(let list): list.keyMembers
        case .events: ["sequence"]
        }
    }

    /// Whether a follower replaces all rows when one has changed.
    var isWrittenWhole: Bool {
        switch self {
        case .state(let list): list.isWrittenWhole
        case .events: false
        }
    }

    /// The list of the state; `nil` for events.
    var ofState: StateList? { if case .state(let list) = self { list } else { nil } }

    /// The shape of a member's values; `nil` if rows have no such member.
    func shape(of member: String) -> MemberShape? {
        switch self {
        case .state(let list): list.shape(of: member)
        case .events where member == "attributes": .open
        case .events: members.contains(member) ? .scalar : nil
        }
    }
}
