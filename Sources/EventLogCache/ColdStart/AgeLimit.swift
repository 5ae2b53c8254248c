/// An age from which on something holds.
public struct AgeLimit: Hashable, Sendable {
    private let age: Duration
    /// Whether `age` itself is still too young.
    private let excludesAge: Bool

    /// Reached at every age, even a negative one after the clock was set back.
    public static let always = AgeLimit(age: .seconds(Int64.min), excludesAge: false)

    /// Reached at this age. "Younger than 5 minutes" means that `.at(.seconds(300))` is not reached.
    public static func at(_ age: Duration) -> AgeLimit { AgeLimit(age: age, excludesAge: false) }

    /// Reached past this age. "Older than 1 minute" means that `.past(.seconds(60))` is reached.
    public static func past(_ age: Duration) -> AgeLimit { AgeLimit(age: age, excludesAge: true) }

    func isReached(by other: Duration) -> Bool { other > age || (other == age && !excludesAge) }
}
