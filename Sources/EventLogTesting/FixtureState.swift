public import EventLog
public import Projections

/// One state that a fixture holds: whose reading it is, and after which event.
///
/// Its file is `expected.json`, with a client's reading `expected.PROFILE.json`; of the state at a point behind the event `SEQ`
/// `expected@SEQ.json` and `expected@SEQ.PROFILE.json`. What a client shows wrongly for a while stands in no state of the end.
public struct FixtureState: Hashable, Sendable {
    /// Whose reading it is.
    public let profile: Profile
    /// The last event that it is made of; `nil` for all of them.
    public let point: SequenceNumber?

    /// Names a state.
    public init(_ profile: Profile, at point: SequenceNumber? = nil) {
        self.profile = profile
        self.point = point
    }

    /// The state whose file has a name; `nil` where that is no state's.
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

    /// The reading and, where it has one, the point, in words.
    var title: String { point.map { "\(profile.rawValue) at \($0)" } ?? profile.rawValue }

    /// The states of the end first, `canonical` before the clients, which stand by name.
    static func precedes(_ left: FixtureState, _ right: FixtureState) -> Bool {
        let points = [left, right].map { $0.point ?? .zero }
        if points[0] != points[1] { return points[0] < points[1] }
        if left.profile == .canonical || right.profile == .canonical { return right.profile != .canonical }
        return left.profile.rawValue < right.profile.rawValue
    }
}
