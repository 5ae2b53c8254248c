import Clients
import EventLog
import Projections

/// Finds a small part of a log for which a test still holds.
///
/// Big cuts come first: the shortest prefix, what its last event depends on, whole sources, connections, channels and
/// things, runs of events, single events, and last the insides of payloads; again until nothing helps. `EventLinks`
/// decides only which cuts are tried first.
///
/// The result is 1-minimal in events: the test fails without any single one of them. It need not be the smallest
/// possible. The search depends on nothing but log and test, so a second one takes the same way.
struct ShrinkSearch {
    let runner: CandidateRunner
    /// The smallest interesting candidate so far.
    private(set) var best: Candidate
    /// True if every single event of `best` is needed; false if the time was over before that was shown.
    private(set) var isMinimal = false
    /// Dependencies among the events that are left after `cutAfterwards`, by `CandidateEvent.place`.
    private var links = EventLinks(of: [])
    /// Called with the number of events that are left.
    var report: ((Int) -> Void)?

    init(_ whole: Candidate, runner: CandidateRunner) {
        best = whole
        self.runner = runner
    }

    /// Searches until nothing helps, or the time is over.
    ///
    /// - Returns: True if the test holds for the whole log; if not, nothing was searched.
    /// - Throws: `EngineError` if the test holds for a log without events, or gives two answers for the same events.
    mutating func run() throws -> Bool {
        do {
            guard try runner.isInteresting(best) else { return false }
            // Known answers of a command may be of an earlier run, under other conditions.
            if case .command = runner.test.question { try runner.confirm(best, is: true) }
            try refuseEmpty()
            try keepWhatHoldsTheTexts()
            try cutAfterwards()
            try runner.checkTime()
            // Made only now: the log is often much shorter after the cuts that need no links.
            let test = runner.test
            links = EventLinks(of: best.events.map(\.draft), rules: test.profile.rules, decoders: test.decoders)
            try guess()
            for groups in [links.sources, links.connections, links.channels] { try removeGroups(by: { groups[$0] }) }
            let links = links
            // An event that touches nothing is a group of its own.
            try removeGroups { links.things[$0].first ?? -1 - $0 }
            try removeEvents()
            try shrinkPayloads()
            try verify()
            isMinimal = true
        } catch is CandidateRunner.TimeIsOver {
            isMinimal = false
        }
        return true
    }

    /// Refuses a test that holds for an empty log: it looks for something absent, and every log would shrink to
    /// nothing.
    private func refuseEmpty() throws {
        guard try runner.isInteresting(Candidate([])) else { return }
        throw EngineError("shrink: the test says yes of a log without events; negate it, or ask for what went wrong")
    }

    /// Makes a candidate the best one. The caller has seen that it is interesting.
    private mutating func take(_ candidate: Candidate) {
        best = candidate
        report?(candidate.events.count)
    }

    // MARK: - Events

    /// Tries the events whose bytes contain the test's texts: a byte search is far cheaper than a replay of everything.
    /// A command names no texts.
    private mutating func keepWhatHoldsTheTexts() throws {
        // Parts of references count singly, because a payload has ids, not references.
        let texts = Set(runner.test.texts.flatMap { text in text.split { $0 == "/" || $0 == "#" }.map(String.init) })
        let sorted = texts.filter { $0.utf8.count >= Self.textBytesMin }.sorted {
            ($1.utf8.count, $0) < ($0.utf8.count, $1)
        }
        let events = best.events
        var guesses = [Array(sorted.prefix(1)), sorted].map { texts in
            texts.isEmpty ? [] : events.filter { event in texts.contains { event.holds($0) } }
        }
        // What went wrong may show without a name, for example as an empty list.
        let sources = Set(guesses[0].map(\.draft.source))
        guesses.append(events.filter { sources.contains($0.draft.source) })
        // A guess that leaves more than a quarter saves too little to be worth a replay.
        let useful = guesses.filter { !$0.isEmpty && $0.count <= events.count / 4 }.map { Candidate($0) }
        guard let hit = try runner.first(useful.count, { useful[$0] }) else { return }
        take(
            Candidate(
                useful[hit].events.enumerated().map { place, event in
                    // Places are counted anew, because `EventLinks` is made of the events that are left.
                    CandidateEvent(place: place, origin: event.origin, draft: event.draft)
                }
            )
        )
    }

    /// Shorter texts occur in too many events.
    private static let textBytesMin = 3

    /// Bisects for the first event after which the test holds, and drops all later ones.
    ///
    /// Each event is folded about twice: the search folds on from a tested prefix for which the test fails.
    private mutating func cutAfterwards() throws {
        let events = best.events
        var (low, high) = (0, events.count)
        var base = (count: 0, states: runner.test.start())
        while high - low > 1 {
            try runner.checkTime()
            assert(base.count <= low, "the folded prefix is part of every candidate that is left")
            let middle = low + (high - low) / 2
            let candidate = Candidate(Array(events[..<middle]))
            var answer = runner.known(candidate)
            if answer == nil, case .observed = runner.test.question {
                answer = try runner.test.isInteresting(candidate)
            }
            if answer == nil {
                let states = try runner.test.folded(events[base.count..<middle], onto: base.states)
                answer = try runner.test.holds(in: states)
                // Only a prefix for which the test fails is part of every later candidate.
                if answer == false { base = (middle, states) }
            }
            runner.note(answer == true, to: candidate)
            if answer == true { high = middle } else { low = middle }
        }
        take(Candidate(Array(events[..<high])))
    }

    /// Tries small guesses: the last event alone, what it needs, what touches the same things or channels.
    private mutating func guess() throws {
        assert(!best.events.isEmpty, "a log without events was refused")
        let last = best.events.count - 1
        let parents = links.parents(of: best.events[last].draft)
        let named = links.places(naming: runner.test.texts)
        let direct = Set([last] + links.needs[last] + parents)
        let needed = links.closure(of: [last])
        let touching = links.places(sharingThingsWith: needed)
        let channels = Set((needed + named).map { links.channels[$0] })
        let guesses: [[Int]] = [
            [last], direct.sorted(), needed,
            links.closure(of: Array(Set(named + needed))),
            links.closure(of: Array(Set(touching + named))),
            links.closure(of: links.channels.indices.filter { channels.contains(links.channels[$0]) }),
            links.connections.indices.filter { links.connections[$0] == links.connections[last] },
            links.sources.indices.filter { links.sources[$0] == links.sources[last] },
        ]
        let events = best.events
        let hit = try runner.first(guesses.count) { Candidate(guesses[$0].map { events[$0] }) }
        if let hit { take(Candidate(guesses[hit].map { events[$0] })) }
    }

    /// Leaves out groups of events that `group` gives the same number, as long as the test holds. `group` gets an
    /// event's place.
    private mutating func removeGroups(by group: (Int) -> Int) throws {
        var units: [[CandidateEvent]] = []
        var numbers: [Int: Int] = [:]
        for event in best.events {
            let number = numbers[group(event.place)] ?? units.count
            if number == units.count { units.append([]) }
            numbers[group(event.place)] = number
            units[number].append(event)
        }
        guard units.count > 1 else { return }
        // The search then goes on event by event, so groups are not halved down to one in large logs.
        let smallest = max(units.count / Self.groupWindowsMax, 1)
        _ = try reduce(units.count, downTo: smallest, repeats: false) { kept in
            Candidate(kept.flatMap { units[$0] }.sorted { $0.place < $1.place })
        }
    }

    /// The most windows into which groups are divided.
    private static let groupWindowsMax = 256

    /// Removes runs of events, with their dependents or alone, then single ones until each is needed.
    private mutating func removeEvents() throws {
        var size = max(best.events.count / 2, 1)
        while true {
            let isSmaller = try removeRuns(of: size)
            if size > 1 { size /= 2 } else if !isSmaller { return }
        }
    }

    /// Tries to leave out each run of `size` events, from the last one on: later events depend on earlier ones, seldom
    /// the reverse.
    ///
    /// - Returns: True if something was left out.
    private mutating func removeRuns(of size: Int) throws -> Bool {
        var isSmaller = false
        var end = best.events.count
        while end > 0, best.events.count > 1 {
            assert(end <= best.events.count, "the events that depend on a run come after it")
            let (events, links) = (best.events, links)
            let places = events.map(\.place)
            let windows = (end + size - 1) / size
            // Even indexes leave out a run with its dependents, odd ones the run alone. The first kind is skipped where
            // both are the same.
            let hit = try runner.first(2 * windows) { index in
                let window = Self.window(index / 2, size: size, end: end)
                if index % 2 == 1 { return Self.candidate(events, without: Set(places[window])) }
                let gone = links.dependents(of: Array(places[window]), among: places)
                return gone.count == window.count ? nil : Self.candidate(events, without: Set(gone))
            }
            guard let hit else { break }
            isSmaller = true
            let window = Self.window(hit / 2, size: size, end: end)
            let gone = hit % 2 == 1 ? Array(places[window]) : links.dependents(of: Array(places[window]), among: places)
            take(Self.candidate(events, without: Set(gone)) ?? best)
            end = window.lowerBound
        }
        return isSmaller
    }

    /// The units of a window; window 0 is the last one before `end`.
    private static func window(_ number: Int, size: Int, end: Int) -> Range<Int> {
        assert(number * size < end, "a window holds at least one unit")
        return max(end - (number + 1) * size, 0)..<(end - number * size)
    }

    /// The events without those at some places; `nil` if none is left, because an empty log is of no use.
    private static func candidate(_ events: [CandidateEvent], without gone: Set<Int>) -> Candidate? {
        let kept = events.filter { !gone.contains($0.place) }
        return kept.isEmpty ? nil : Candidate(kept)
    }

    /// Leaves out runs of units, halving the run's size, while the candidate of the kept units stays interesting.
    ///
    /// - Parameters:
    ///   - smallest: the size of the last runs.
    ///   - repeats: whether single units are tried until none of them can go.
    ///   - make: makes the candidate of the kept units, ascending; `nil` to skip it.
    /// - Returns: The units kept.
    private mutating func reduce(
        _ count: Int,
        downTo smallest: Int = 1,
        repeats: Bool = true,
        _ make: ([Int]) -> Candidate?
    ) throws -> [Int] {
        var kept = Array(0..<count)
        var size = max(count / 2, 1)
        while size >= smallest, !kept.isEmpty {
            var end = kept.count
            var isSmaller = false
            while end > 0 {
                let (now, windows) = (kept, (end + size - 1) / size)
                let without = { (index: Int) -> [Int] in
                    let window = Self.window(index, size: size, end: end)
                    return Array(now[..<window.lowerBound]) + now[window.upperBound...]
                }
                guard let hit = try runner.first(windows, { make(without($0)) }) else { break }
                isSmaller = true
                kept = without(hit)
                assert(kept.count < now.count, "each hit leaves something out")
                end = Self.window(hit, size: size, end: end).lowerBound
                if let candidate = make(kept) { take(candidate) }
            }
            if size == 1, !isSmaller || !repeats { break }
            size = max(size / 2, 1)
        }
        return kept
    }

    // MARK: - Payloads

    /// Cuts within payloads, and begins again as long as that changes something, because an event that has lost a
    /// member may no longer need another event.
    private mutating func shrinkPayloads() throws {
        while true {
            let before = best.events.map(\.draft.payload)
            // A cut payload must stay decodable: otherwise every test for an issue would end with a payload of one
            // byte.
            let allowed = try runner.test.issues(of: best)
            for index in best.events.indices { try shrinkPayload(of: index, issuesAllowed: allowed) }
            best.issuesAllowed = nil
            try removeEvents()
            if best.events.map(\.draft.payload) == before { return }
        }
    }

    /// Cuts within one event's payload. `take` keeps `best` up to date with every cut that helps.
    private mutating func shrinkPayload(of index: Int, issuesAllowed: Set<String>) throws {
        let candidate = best
        let with = { (payload: Payload) -> Candidate in
            var other = candidate
            other.issuesAllowed = issuesAllowed
            other.events[index] = other.events[index].with(payload: payload.bytes)
            return other
        }
        var payload = Payload(of: candidate.events[index].draft)
        var place = 0
        // Outer cuts first: what they remove needs no cuts of its own.
        while let cut = payload.cuts.element(at: place) {
            let now = payload
            switch cut.kind {
            case .parts(let count):
                let kept = try reduce(count) { with(now.keeping($0, of: cut)) }
                if kept.count < count { payload = now.keeping(kept, of: cut) }
            case .text(let lengths):
                let hit = try runner.first(lengths.count) { with(now.keeping(first: lengths[$0], of: cut)) }
                if let hit {
                    payload = now.keeping(first: lengths[hit], of: cut)
                    take(with(payload))
                }
            }
            place += 1
        }
    }

    // MARK: - Proof

    /// Tests the result again, ignoring known answers: it must be interesting, and not without any one event.
    private func verify() throws {
        try runner.confirm(best, is: true)
        for place in best.events.map(\.place) {
            guard let smaller = Self.candidate(best.events, without: [place]) else { continue }
            try runner.confirm(smaller, is: false)
        }
    }
}

extension Array {
    fileprivate func element(at index: Int) -> Element? { index < count ? self[index] : nil }
}
