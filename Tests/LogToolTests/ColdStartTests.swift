import EventLog
import EventLogCache
import Testing

/// What the apps' own sources say about caches at the start: how old, shown or not, asked anew or not.
@Suite struct ColdStartTests {
    /// Seconds since the clock's zero.
    private static let now: Int64 = 10_000_000

    @Test(
        arguments: [
            (nil, CacheAge.missing, ColdStartStep.waitForRemote),
            (0, .fresh, .showCache), (59, .fresh, .showCache), (60, .fresh, .showCache),
            (61, .stale, .showCacheAndRefresh), (299, .stale, .showCacheAndRefresh),
            (300, .expired, .waitForRemote), (86_400, .expired, .waitForRemote),
        ] as [(Int64?, CacheAge, ColdStartStep)]
    )
    func vibechannelPlansOneAndFiveMinutes(seconds: Int64?, age: CacheAge, step: ColdStartStep) {
        expect(.vibechannelPlan, "owner/name/general", seconds, age, step)
    }

    @Test(
        arguments: [
            (nil, CacheAge.missing, ColdStartStep.waitForRemote),
            (59, .fresh, .showCache), (60, .expired, .waitForRemote), (61, .expired, .waitForRemote),
        ] as [(Int64?, CacheAge, ColdStartStep)]
    )
    func vibechannelOnIOSReadsItsCacheForAMinute(seconds: Int64?, age: CacheAge, step: ColdStartStep) {
        expect(.vibechannelIOS, "owner/name", seconds, age, step)
    }

    @Test(
        arguments: [
            ("conversations.list", 1800), ("ingestion.list", 600), ("conversations.detail.c1", 7200),
            ("ingestion.meta.f1", 600), ("conversations.messages.c1", 604_800), ("scratchpad.content", 604_800),
            ("notes.tree", 1800), ("notes.archived.tree", 1800), ("files.tree.documents", 1800),
            ("notes.note.n1", 7200), ("files.content.documents.a/b.txt", 7200), ("settings.user", 1800),
            ("settings.skills", 1800), ("websites.list", 1800), ("settings.profile-image", 21_600),
            ("websites.detail.w1", 7200), ("tasks.counts", 60), ("tasks.list.today", 60), ("memories.list", 1800),
            ("favicon.00ff", 604_800),
        ] as [(String, Int64)]
    )
    func sidebarOnIOSShowsAtOnceAndAlwaysAsks(key: String, time: Int64) {
        expect(.sidebarIOS, key, nil, .missing, .waitForRemote)
        expect(.sidebarIOS, key, 0, .stale, .showCacheAndRefresh)
        expect(.sidebarIOS, key, time - 1, .stale, .showCacheAndRefresh)
        expect(.sidebarIOS, key, time, .expired, .waitForRemote)
    }

    @Test(arguments: ["notes.archived.sync", "websites.archived.sync", "tasks.sync"])
    func sidebarKeepsItsSyncTimesForEver(key: String) {
        expect(.sidebarIOS, key, Self.now, .stale, .showCacheAndRefresh)
    }

    @Test(
        arguments: [
            ("notes.tree", 1800), ("files.expanded", 604_800), ("conversations.list", 600), ("ingestion.list", 120),
            ("scratchpad", 604_800), ("tasks.today", 60), ("settings.user", 900),
        ] as [(String, Int64)]
    )
    func sidebarOnTheWebAsksFromFourFifthsOn(key: String, time: Int64) {
        expect(.sidebarWeb, key, nil, .missing, .waitForRemote)
        expect(.sidebarWeb, key, 0, .fresh, .showCache)
        expect(.sidebarWeb, key, time * 4 / 5 - 1, .fresh, .showCache)
        expect(.sidebarWeb, key, (time * 4 + 4) / 5, .stale, .showCacheAndRefresh)
        expect(.sidebarWeb, key, time - 1, .stale, .showCacheAndRefresh)
        expect(.sidebarWeb, key, time, .expired, .waitForRemote)
    }

    @Test func sidebarOnTheWebAlwaysAsksForWebsites() {
        expect(.sidebarWeb, "websites.list", 0, .stale, .showCacheAndRefresh)
        expect(.sidebarWeb, "websites.list", 899, .stale, .showCacheAndRefresh)
        expect(.sidebarWeb, "websites.list", 900, .expired, .waitForRemote)
    }

    @Test(arguments: [nil, 0, 1] as [Int64?])
    func appsWithoutACacheWaitForTheRemote(seconds: Int64?) {
        let start = ColdStart(.uncached) { Timestamp(seconds: Self.now) }
        #expect(
            start.step(for: "messages", written: seconds.map { Timestamp(seconds: Self.now - $0) }) == .waitForRemote
        )
    }

    /// A device whose clock was set back has written its cache tomorrow.
    @Test func aTimeToComeIsShownAndAskedAnew() {
        expect(.vibechannelPlan, "r", -86_400, .stale, .showCacheAndRefresh)
        expect(.sidebarWeb, "notes.tree", -1, .stale, .showCacheAndRefresh)
        expect(.vibechannelPlan, "r", -Self.now * 1_000_000, .stale, .showCacheAndRefresh)
    }

    @Test func theClockIsTheCallers() {
        let written = Timestamp(seconds: 100, nanoseconds: 999_999_999)
        let ages = ([160, 161, 162] as [Int64]).map { second in
            ColdStart(.vibechannelPlan) { Timestamp(seconds: second) }.age(of: "r", written: written)
        }
        #expect(ages == [.fresh, .stale, .stale])
    }

    private func expect(
        _ policy: CacheAgePolicy,
        _ key: String,
        _ seconds: Int64?,
        _ age: CacheAge,
        _ step: ColdStartStep,
        location: SourceLocation = #_sourceLocation
    ) {
        let start = ColdStart(policy) { Timestamp(seconds: Self.now) }
        let written = seconds.map { Timestamp(seconds: Self.now - $0) }
        #expect(start.age(of: key, written: written) == age, "\(key)", sourceLocation: location)
        #expect(start.step(for: key, written: written) == step, "\(key)", sourceLocation: location)
    }
}
