public import Clients
import EventLog
public import Projections
import Synchronization

/// The test that a search applies to parts of a log. They are folded in memory; no log is written.
public struct InterestTest: Sendable {
    /// What must be so for the answer to be yes.
    package enum Question: Sendable {
        /// The command exits with 0.
        case command(TestCommand, part: StatePartQuery)
        /// The expression holds. With a second reading, it must hold under the first and not under the second.
        case expression(StateExpression)
        /// The function says yes of the state.
        case function(@Sendable (LogState) throws -> Bool)
        /// The two readings give different states.
        case readings
        /// An observation of a client still differs in the same way.
        case observed(ObservedQuestion)
    }

    package let question: Question
    let profile: Profile
    /// The reading that `profile` is compared with; `nil` for none.
    let other: Profile?
    /// The sections of the document that a command gets; `nil` for all.
    let sections: Set<Section>?
    /// The decoder files of the log that is searched.
    var decoders = Decoders()
    /// Shared by all copies of this test.
    package let troubles = TroubleCount()

    package init(
        question: Question,
        profile: Profile = .canonical,
        other: Profile? = nil,
        sections: Set<Section>? = nil
    ) {
        (self.question, self.profile, self.other, self.sections) = (question, profile, other, sections)
    }

    /// A test by a function.
    ///
    /// - Parameters:
    ///   - profile: Whose reading of the events the state is.
    ///   - body: A function of the state alone, true for what went wrong. It is called on several threads at once.
    public init(profile: Profile = .canonical, _ body: @escaping @Sendable (LogState) throws -> Bool) {
        self.init(question: .function(body), profile: profile)
    }

    /// A test by an expression (`docs/expressions.md`). Its texts let the search try the events that contain them first.
    public init(when expression: StateExpression, profile: Profile = .canonical) {
        self.init(question: .expression(expression), profile: profile)
    }

    /// The states before the first event, one for each reading.
    func start() -> [LogState] {
        ([profile] + [other].compactMap { $0 }).map { profile in
            var state = LogState(rules: profile.rules)
            state.use(decoders)
            return state
        }
    }

    /// The answer for a log of just these events. Cost: folds all of them, once for each reading.
    func isInteresting(_ candidate: Candidate) throws -> Bool {
        if case .observed(let question) = question {
            if let allowed = candidate.issuesAllowed, try !issues(of: candidate).isSubset(of: allowed) { return false }
            guard let state = start().first else { return false }
            return try question.holds(for: candidate, from: state)
        }
        let states = try folded(candidate.events[...], onto: start())
        if let allowed = candidate.issuesAllowed, !Self.issues(of: states).isSubset(of: allowed) { return false }
        return try holds(in: states)
    }

    /// All issues of the events, as source and reason.
    func issues(of candidate: Candidate) throws -> Set<String> {
        Self.issues(of: try folded(candidate.events[...], onto: start()))
    }

    /// The states of all readings after some more events. The readings are folded in parallel; `states` stay unchanged.
    func folded(_ events: ArraySlice<CandidateEvent>, onto states: [LogState]) throws -> [LogState] {
        try concurrentMap(states.indices) { index in
            var state = states[index]
            state.apply(events.lazy.map(\.draft))
            return state
        }
    }

    private static func issues(of states: [LogState]) -> Set<String> {
        Set(states.flatMap { $0.issues.map { "\($0.source.rawValue) \($0.issue.reason)" } })
    }

    /// The answer for the states of all readings.
    func holds(in states: [LogState]) throws -> Bool {
        switch question {
        case .command(let command, let part): return try run(command, part, on: states[0])
        case .expression(let expression):
            // An expression may have no answer for a part of the log, for example if ids fit several rows.
            guard (try? expression.holds(in: states[0])) == true else { return false }
            return states.count == 1 || (try? expression.holds(in: states[1])) == false
        case .function(let body): return try body(states[0])
        // It is a question to the events, not to their last state.
        case .observed: return false
        case .readings:
            var digests: [Hash256] = []
            for var state in states { digests.append(state.digest()) }
            return digests[0] != digests[1]
        }
    }

    /// Why an expression has no answer for these events; `nil` if it has one, and for other questions.
    func fault(in candidate: Candidate) -> String? {
        guard case .expression(let expression) = question else { return nil }
        guard let states = try? folded(candidate.events[...], onto: start()) else { return nil }
        do throws(ExpressionError) {
            for state in states { _ = try expression.holds(in: state) }
            return nil
        } catch {
            return "answer \"\(expression)\": \(error)"
        }
    }

    /// Runs the command on the state document. Ends by a signal or the time limit count as no.
    private func run(_ command: TestCommand, _ part: StatePartQuery, on state: LogState) throws -> Bool {
        var options = DocumentOptions()
        options.profile = profile
        options.sections = sections
        switch try command.run(on: part.bytes(of: state, options: options)) {
        case .code(let code): return code == 0
        case .signal(let number): troubles.note("signal \(number) ended it")
        case .timedOut: troubles.note("it took longer than \(command.timeout)")
        }
        return false
    }

    /// Identifies the question in the file that keeps its answers. Everything that can change an answer is in it.
    var description: JSONValue {
        var object: JSONObject = [
            "profile": .string(profile.rawValue), "against": .text(other?.rawValue),
            "only": sections.map { .array($0.map(\.rawValue).sorted().map { .string($0) }) },
        ]
        switch question {
        case .command(let command, let part):
            object["run"] = .string(command.line)
            object["entity"] = .text(part.entity?.description)
            object["channel"] = .text(part.channel?.description)
        case .expression(let expression): object["when"] = .string(expression.description)
        // A function has no name, so its answers are never kept.
        case .function, .readings: break
        case .observed(let question):
            object["observed"] = question.difference.json
            object["lag"] = .int(Int(question.lag.microseconds))
        }
        return .object(object)
    }

    /// The test with the texts of an expression, or the row that an observation shows, put through `body`. A command stays as
    /// it is, because its texts are unknown.
    func naming(_ body: (String, TextPlace) -> String) -> InterestTest {
        if case .observed(let question) = question {
            let renamed = Question.observed(question.naming(body))
            return InterestTest(question: renamed, profile: profile, other: other, sections: sections)
        }
        guard case .expression(let expression) = question,
            let other = expression.renaming(naming: { text, member in
                Self.placed(text, member).map { body($0.text, $0.place) }.joined(separator: "/")
            })
        else { return self }
        return InterestTest(question: .expression(other), profile: profile, other: self.other, sections: sections)
    }

    /// The texts that the question names.
    var texts: Set<String> {
        switch question {
        case .expression(let expression): expression.texts
        case .observed(let question): question.difference.entity.parts.last.map { [$0] } ?? []
        default: []
        }
    }

    /// The texts that the question names, and where a log has such texts.
    var placedTexts: [PlacedText] {
        switch question {
        case .expression(let expression): expression.namedTexts.flatMap { Self.placed($0.text, $0.member) }
        // An observation says by them how its rows are ordered.
        case .observed: Observation.Order.allCases.map { PlacedText($0.rawValue, .text) }
        default: []
        }
    }

    /// The members that the question names.
    var members: Set<String> {
        switch question {
        case .expression(let expression): expression.members
        case .observed: Observation.members
        default: []
        }
    }

    /// A text of an expression, and where a log has what it is compared with. The id of a row has its table before the last
    /// slash.
    private static func placed(_ text: String, _ member: String?) -> [PlacedText] {
        guard member == "table", text.contains("/") else {
            return [PlacedText(text, member.map { TextPlace(ofMember: $0, within: .text) } ?? .text)]
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.enumerated().map { PlacedText(String($1), $0 == parts.count - 2 ? .topic : .text) }
    }

    /// True if the test fails without any one event.
    func needsEach(of events: [CandidateEvent]) throws -> Bool {
        guard events.count > 1 else { return true }
        return try events.indices.allSatisfy { index in
            var smaller = events
            smaller.remove(at: index)
            return try !isInteresting(Candidate(smaller))
        }
    }
}

/// Counts runs of a command that ended by a signal or the time limit. They count as no. Any thread may note one.
package final class TroubleCount: Sendable {
    private let state = Mutex((count: 0, first: String?.none))

    func note(_ reason: String) {
        state.withLock { state in
            state.count += 1
            state.first = state.first ?? reason
        }
    }

    /// How many there were, and the first one's reason.
    package var noted: (count: Int, first: String?) { state.withLock { $0 } }
}
