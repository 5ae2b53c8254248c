/// How old cached data may be when an app starts.
public struct CacheAgeRule: Hashable, Sendable {
    /// The age from which on the app requests data from the remote; `nil` for never.
    public var refreshes: AgeLimit?
    /// The age from which on the app does not show the cache; `nil` for never.
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
    /// A key, or a prefix followed by a full stop and a star: `notes.note.*`.
    public typealias Pattern = String

    private let rules: [Pattern: CacheAgeRule]
    private let fallback: CacheAgeRule

    /// Makes the rules of an app.
    ///
    /// - Parameter fallback: The rule for keys that fit no pattern.
    public init(rules: [Pattern: CacheAgeRule] = [:], fallback: CacheAgeRule) {
        (self.rules, self.fallback) = (rules, fallback)
    }

    /// The rule of a key: its own, else that of the longest prefix, else the fallback.
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
