/// An age at which something begins to hold.
public struct AgeLimit: Hashable, Sendable {
    private let age: Duration
    /// Whether the age itself is still too young.
    private let excludesAge: Bool

    /// Reached at every age, also at one that a clock which was set back makes negative.
    public static let always = AgeLimit(age: .seconds(Int64.min), excludesAge: false)

    /// Reached at this age: "younger than 5 minutes" is what has not reached `.at(.seconds(300))`.
    public static func at(_ age: Duration) -> AgeLimit { AgeLimit(age: age, excludesAge: false) }

    /// Reached past this age: "older than 1 minute" is what has reached `.past(.seconds(60))`.
    public static func past(_ age: Duration) -> AgeLimit { AgeLimit(age: age, excludesAge: true) }

    func isReached(by other: Duration) -> Bool { other > age || (other == age && !excludesAge) }
}
