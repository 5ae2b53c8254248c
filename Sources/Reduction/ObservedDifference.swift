public import Projections

/// A difference between what a client showed and the state.
public struct ObservedDifference: Hashable, Sendable {
    /// The ways in which a row differs.
    public enum What: Hashable, Sendable {
        /// The state has the row, and the client did not show it.
        case missing
        /// The client showed the row, and the state has it not; `isDeleted` if it was deleted.
        case extra(isDeleted: Bool)
        /// The client showed the message as deleted, and it is not.
        case shownAsDeleted
        /// The client showed the row so many times.
        case repeated(Int)
        /// The client showed the row behind another one that comes after it.
        case order(after: String)
        /// A member differs; `state` is `nil` where the state has none.
        case member(String, shown: JSONValue, state: JSONValue?)
    }

    /// The row.
    public let entity: EntityReference
    /// In which way it differs.
    public let what: What

    /// The name of the difference, as documents have it.
    public var name: String {
        switch what {
        case .missing: "missing"
        case .extra(let isDeleted): isDeleted ? "deleted" : "extra"
        case .shownAsDeleted: "shownAsDeleted"
        case .repeated: "repeated"
        case .order: "order"
        case .member: "member"
        }
    }

    /// A sentence for people, without the row.
    public var reason: String {
        switch what {
        case .missing: "is not shown"
        case .extra(let isDeleted): isDeleted ? "is shown, and is deleted" : "is shown, and does not exist"
        case .shownAsDeleted: "is shown as deleted, and is not"
        case .repeated(let count): "is shown \(count) times"
        case .order(let other): "is shown after \(other), which comes after it"
        case .member(let name, let shown, let state):
            "\(name) is shown as \(shown.text), and is \(state?.text ?? "not there")"
        }
    }

    /// The difference as JSON: `entity`, `difference`, and of a member its name and both values.
    public var json: JSONValue {
        var object: JSONObject = ["entity": .string(entity.description), "difference": .string(name)]
        switch what {
        case .repeated(let count): object["count"] = .int(count)
        case .order(let other): object["after"] = .string(other)
        case .member(let member, let shown, let state):
            object["member"] = .string(member)
            object["shown"] = shown
            object["state"] = state
        default: break
        }
        return .object(object)
    }

    /// Whether two differences are of one kind in one row, whatever the values.
    func isAlike(_ other: ObservedDifference) -> Bool {
        guard entity == other.entity, name == other.name else { return false }
        guard case .member(let member, _, _) = what, case .member(let otherMember, _, _) = other.what else {
            return true
        }
        return member == otherMember
    }
}
