public import Clients
public import EventLog
import Projections

/// Names one expected state of a fixture: its profile, and the event after which it holds.
///
/// Final states are in `expected.json` and, for a client's profile, `expected.PROFILE.json`. States after the event
/// `SEQ` are in `expected@SEQ.json` and `expected@SEQ.PROFILE.json`; they show what a client gets wrong only for a
/// while.
public struct FixtureState: Hashable, Sendable {
    /// The profile whose reading gives the state.
    public let profile: Profile
    /// The last event that the state includes; `nil` for all events.
    public let point: SequenceNumber?

    /// Names a state.
    public init(_ profile: Profile, at point: SequenceNumber? = nil) {
        self.profile = profile
        self.point = point
    }

    /// The state whose file has this name; `nil` if the name is not that of a state.
    public init?(fileName: String) {
        guard fileName.hasPrefix("expected"), fileName.hasSuffix(".json") else { return nil }
        var rest = fileName.dropFirst("expected".count).dropLast(".json".count)
        var point: SequenceNumber?
        if rest.first == "@" {
            let digits = rest.dropFirst().prefix { $0 != "." }
            guard let number = UInt64(digits), number > 0, String(number) == digits else { return nil }
            point = SequenceNumber(number)
            rest = rest.dropFirst(digits.count + 1)
        }
        if rest.isEmpty {
            self.init(.canonical, at: point)
        } else {
            guard rest.first == ".", let profile = Profile(rawValue: String(rest.dropFirst())), profile != .canonical
            else { return nil }
            self.init(profile, at: point)
        }
    }

    /// The name of its file.
    public var fileName: String {
        let place = point.map { "@\($0)" } ?? ""
        let reading = profile == .canonical ? "" : ".\(profile.rawValue)"
        return "expected\(place)\(reading).json"
    }

    /// The profile and, if there is one, the point, in words.
    var title: String { point.map { "\(profile.rawValue) at \($0)" } ?? profile.rawValue }

    /// Final states first, then by point; `canonical` before the clients, which are in order of their names.
    static func precedes(_ left: FixtureState, _ right: FixtureState) -> Bool {
        let points = [left, right].map { $0.point ?? .zero }
        if points[0] != points[1] { return points[0] < points[1] }
        if left.profile == .canonical || right.profile == .canonical { return right.profile != .canonical }
        return left.profile.rawValue < right.profile.rawValue
    }
}
