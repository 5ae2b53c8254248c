public import EventLog

/// How good the cache of something is when an app starts.
public enum CacheAge: String, Hashable, Sendable {
    /// The cache is as good as the remote.
    case fresh
    /// The cache may be shown, and is out of date.
    case stale
    /// The cache is too old to be shown.
    case expired
    /// There is no cache.
    case missing
}

/// What an app does when it starts.
public enum ColdStartStep: String, Hashable, Sendable {
    /// Shows the cache and sends no request.
    case showCache
    /// Shows the cache at once and requests data from the remote meanwhile; an error changes nothing.
    case showCacheAndRefresh
    /// Shows that it is loading until the remote has answered.
    case waitForRemote
}

/// Decides by the age of its cache what an app shows and requests when it starts.
///
/// The caller supplies the clock, so that a test or a replay can set it.
public struct ColdStart: Sendable {
    private let policy: CacheAgePolicy
    private let now: @Sendable () -> Timestamp

    /// Makes the decisions of one app.
    public init(_ policy: CacheAgePolicy, now: @escaping @Sendable () -> Timestamp) {
        (self.policy, self.now) = (policy, now)
    }

    /// The age of what is cached under a key.
    ///
    /// - Parameter written: When the cache was last known to equal the remote; `nil` if there is no cache.
    public func age(of key: String, written: Timestamp?) -> CacheAge {
        guard let written else { return .missing }
        let rule = policy.rule(for: key)
        let age = now().elapsed(since: written)
        if rule.expires?.isReached(by: age) == true { return .expired }
        // A time in the future says nothing about the age: a clock was set.
        return age < .zero && rule.refreshes != nil || rule.refreshes?.isReached(by: age) == true ? .stale : .fresh
    }

    /// What the app does about a key.
    public func step(for key: String, written: Timestamp?) -> ColdStartStep {
        switch age(of: key, written: written) {
        case .fresh: .showCache
        case .stale: .showCacheAndRefresh
        case .expired, .missing: .waitForRemote
        }
    }
}

extension Timestamp {
    /// The time between two instants; negative where the other one is later.
    fileprivate func elapsed(since other: Timestamp) -> Duration {
        .seconds(seconds) - .seconds(other.seconds)
            + .nanoseconds(Int64(nanoseconds)) - .nanoseconds(Int64(other.nanoseconds))
    }
}
