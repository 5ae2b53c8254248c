extension CacheAgePolicy {
    /// VibeChannel on iOS as planned: shown while younger than five minutes, refreshed when older than one.
    public static let vibechannelPlan = CacheAgePolicy(
        fallback: CacheAgeRule(refreshes: .past(.seconds(60)), expires: .at(.seconds(300)))
    )

    /// VibeChannel on iOS as built: the cache alone for a minute, then the remote alone.
    public static let vibechannelIOS = CacheAgePolicy(
        fallback: CacheAgeRule(refreshes: .at(.seconds(60)), expires: .at(.seconds(60)))
    )

    /// sideBar on iOS: shown at once until its time is over, and always refreshed.
    public static let sidebarIOS = CacheAgePolicy(
        rules: sidebarTimes.mapValues { CacheAgeRule(refreshes: .always, expires: $0.map { .at($0) }) },
        fallback: .none
    )

    /// sideBar on the web: refreshed from four fifths of its time on, not shown once its time is over.
    public static let sidebarWeb = CacheAgePolicy(
        rules: sidebarWebTimes.mapValues { untilFourFifths(of: $0) }.merging(
            ["websites.list": CacheAgeRule(refreshes: .always, expires: .at(.minutes(15)))]
        ) { $1 },
        fallback: untilFourFifths(of: .minutes(15))
    )

    /// Retrocast, the punchlist and VibeStatus: nothing outlives the process.
    public static let uncached = CacheAgePolicy(fallback: .none)

    /// How long each key is kept on iOS; `nil` for ever.
    private static let sidebarTimes: [Pattern: Duration?] = [
        "conversations.list": .minutes(30), "conversations.detail.*": .hours(2), "conversations.messages.*": .days(7),
        "notes.tree": .minutes(30), "notes.archived.tree": .minutes(30), "notes.note.*": .hours(2),
        "notes.archived.sync": nil,
        "websites.list": .minutes(30), "websites.detail.*": .hours(2), "websites.archived.sync": nil,
        "memories.list": .minutes(30),
        "ingestion.list": .minutes(10), "ingestion.meta.*": .minutes(10), "scratchpad.content": .days(7),
        "files.tree.*": .minutes(30), "files.content.*": .hours(2),
        "settings.user": .minutes(30), "settings.skills": .minutes(30), "settings.profile-image": .hours(6),
        "tasks.counts": .seconds(60), "tasks.list.*": .seconds(60), "tasks.sync": nil, "favicon.*": .days(7),
    ]

    private static let sidebarWebTimes: [Pattern: Duration] = [
        "notes.tree": .minutes(30), "files.expanded": .days(7), "conversations.list": .minutes(10),
        "ingestion.list": .minutes(2), "scratchpad": .days(7), "tasks.*": .seconds(60),
    ]

    private static func untilFourFifths(of time: Duration) -> CacheAgeRule {
        CacheAgeRule(refreshes: .at(time * 4 / 5), expires: .at(time))
    }
}

extension Duration {
    fileprivate static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
    fileprivate static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }
    fileprivate static func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}
