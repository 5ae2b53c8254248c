/// How old what an app has cached may be when the app starts.
public struct CacheAgeRule: Hashable, Sendable {
    /// From when on the app asks the remote; `nil` for never.
    public var refreshes: AgeLimit?
    /// From when on the app shows nothing of the cache; `nil` for never.
    public var expires: AgeLimit?

    /// Makes a rule.
    public init(refreshes: AgeLimit?, expires: AgeLimit?) {
        (self.refreshes, self.expires) = (refreshes, expires)
    }

    /// Nothing is cached: each start waits for the remote.
    public static let none = CacheAgeRule(refreshes: .always, expires: .always)
}

/// The rules of one app, by the key of what is cached.
public struct CacheAgePolicy: Sendable {
    /// A key, or the beginning of one where it ends in a full stop and a star: `notes.note.*`.
    public typealias Pattern = String

    private let rules: [Pattern: CacheAgeRule]
    private let fallback: CacheAgeRule

    /// Makes the rules of an app.
    ///
    /// - Parameter fallback: The rule for keys that fit no pattern.
    public init(rules: [Pattern: CacheAgeRule] = [:], fallback: CacheAgeRule) {
        (self.rules, self.fallback) = (rules, fallback)
    }

    /// The rule of a key: its own, else the one of the longest beginning.
    public func rule(for key: String) -> CacheAgeRule {
        if let rule = rules[key] { return rule }
        var start = key[...]
        while let stop = start.lastIndex(of: ".") {
            start = start[..<stop]
            if let rule = rules["\(start).*"] { return rule }
        }
        return fallback
    }
}
