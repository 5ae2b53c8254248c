import EventLog
import Testing

@testable import Projections

/// What a compaction leaves of a log that goes on for ever does not grow for ever: counted at n events and at 4 n.
@Suite struct GrowthTests {
    private struct Event {
        let envelope: Envelope
        let payload: [UInt8]
    }

    /// What is left after a compaction.
    private struct Remains {
        let keptCount: Int
        let factBytes: Int
        let issueCount: Int
        let entryCount: Int
    }

    /// What came over one gateway, an event a minute unless said otherwise.
    private struct Traffic {
        private(set) var events: [Event] = []

        mutating func receive(_ frame: String, connection: String = "a", seconds: Int? = nil) throws {
            let number = events.count + 1
            let pairs = [("connection", connection), ("dir", "in")].map { Attributes.Pair(name: $0.0, value: $0.1) }
            let envelope = Envelope(
                sequence: SequenceNumber(UInt64(number)),
                recordedAt: Timestamp(seconds: Int64(seconds ?? 60 * number)),
                source: try SourceName("guild"),
                kind: try EventKind("gateway.frame/1"),
                attributes: try Attributes(pairs)
            )
            events.append(Event(envelope: envelope, payload: Array(frame.utf8)))
        }

        mutating func dispatch(_ name: String, _ data: String, seconds: Int? = nil) throws {
            try receive(#"{"op":0,"t":"\#(name)","d":\#(data)}"#, seconds: seconds)
        }
    }

    private static let policy = RetentionPolicy(messagesPerChannel: 10)

    private static func fold(_ events: some Sequence<Event>, from start: LogState = LogState()) -> LogState {
        var logState = start
        for event in events { event.payload.withUnsafeBytes { logState.apply(event.envelope, payload: $0) } }
        return logState
    }

    /// Compacts what the events give; checks that facts and kept events give the same, for a tail of further events too,
    /// and that a second compaction finds nothing to drop.
    private static func compacted(_ traffic: Traffic, tail count: Int = 20) throws -> Remains {
        let (events, tail) = (traffic.events.dropLast(count), traffic.events.suffix(count))
        let whole = fold(events)
        var condensing = LogState()
        condensing.condensesIssues = true
        let retained = whole.retained(by: policy)
        #expect(fold(events, from: condensing).retained(by: policy).normalFormHash == retained.normalFormHash)
        let kept = retained.neededSequences
        let facts = retained.facts(keeping: kept)
        let refolded = fold(
            events.filter { kept.contains($0.envelope.sequence.rawValue) },
            from: try LogState(facts: facts)
        )
        #expect(refolded.normalFormHash == retained.normalFormHash)
        let again = refolded.retained(by: policy)
        #expect(again.neededSequences == kept && again.facts(keeping: kept) == facts)
        let (left, right) = (fold(tail, from: retained), fold(tail, from: refolded))
        #expect(left.normalFormHash == right.normalFormHash)
        let community = retained.sources.map(\.parts.community)
        return Remains(
            keptCount: kept.count,
            factBytes: facts.count,
            issueCount: retained.issues.count,
            entryCount: community.reduce(0) { $0 + $1.registers.count + $1.typing.count }
        )
    }

    /// Compares what is left of n events and of 4 n: but for the digits of larger numbers it is the same.
    private static func expectBounded(_ make: (Int) throws -> Traffic, tail: Int = 20) throws {
        let (small, large) = (try compacted(make(400), tail: tail), try compacted(make(1600), tail: tail))
        #expect(large.keptCount <= small.keptCount)
        #expect(large.issueCount <= small.issueCount)
        #expect(large.entryCount <= small.entryCount)
        #expect(large.factBytes <= small.factBytes + 64 + 2 * large.issueCount)
    }

    @Test func undecodableFramesLeaveTheFirstTheLastAndTheirCount() throws {
        try Self.expectBounded { count in
            var traffic = Traffic()
            for _ in 0..<count { try traffic.receive("{]") }
            return traffic
        }
    }

    @Test func condensedIssuesKeepTheDigestAndTellTheirCount() throws {
        var traffic = Traffic()
        for number in 0..<50 { try traffic.receive(number % 5 == 0 ? #"{"op":99}"# : "{]") }
        var whole = Self.fold(traffic.events)
        var retained = whole.retained(by: Self.policy)
        #expect(whole.digest() == retained.digest())
        #expect(whole.issues.count == 50)
        let rows = retained.rows(in: .issues, asOf: Timestamp(seconds: 0))
        #expect(rows.map { $0["sequence"]?.string } == ["1", "2", "46", "50"])
        #expect(rows.map { $0["count"]?.number?.int64 } == [nil, nil, 9, 39])
        try traffic.receive("{]")
        let last = traffic.events.suffix(1)
        (whole, retained) = (Self.fold(last, from: whole), Self.fold(last, from: retained))
        #expect(whole.digest() == retained.digest())
    }

    @Test func ofManyReasonsTheNewestAreToldApart() throws {
        try Self.expectBounded { count in
            var traffic = Traffic()
            for number in 0..<2 * count + IssueList.reasonCountMax {
                try traffic.dispatch("NAME_\(10_000 + number)", "{}")
            }
            return traffic
        }
        var traffic = Traffic()
        for number in 0..<900 { try traffic.dispatch("NAME_\(number)", "{}") }
        let retained = Self.fold(traffic.events).retained(by: Self.policy)
        let rows = retained.rows(in: .issues, asOf: Timestamp(seconds: 0))
        #expect(rows.count == IssueList.reasonCountMax + 2)
        #expect(rows.reduce(0) { $0 + ($1["count"]?.number?.int64 ?? 1) } == 900)
        #expect(rows[1]["reason"]?.string == IssueList.otherReasons)
        #expect(rows[1]["sequence"]?.string == "400")
    }

    @Test func typingThatIsOverIsForgotten() throws {
        try Self.expectBounded { count in
            var traffic = Traffic()
            for number in 0..<count {
                let channel = number % 3 == 0 ? "8" : "7"
                try traffic.dispatch("TYPING_START", #"{"channel_id":"\#(channel)","user_id":"\#(number + 100)"}"#)
            }
            return traffic
        }
    }

    @Test func typingThatLastsIsKept() throws {
        var traffic = Traffic()
        for (user, seconds) in [(1, 1000), (2, 1020), (3, 900), (4, 1025), (5, 1)] {
            try traffic.dispatch("TYPING_START", #"{"channel_id":"7","user_id":"\#(user)"}"#, seconds: seconds)
        }
        let retained = Self.fold(traffic.events).retained(by: Self.policy)
        let rows = retained.rows(in: .typing, asOf: Timestamp(seconds: 1025))
        #expect(rows.map { $0["user"]?.string } == ["2", "4"])
        _ = try Self.compacted(traffic, tail: 1)
    }

    @Test func presencesOfUsersOfLongAgoAreForgotten() throws {
        try Self.expectBounded { count in
            var traffic = Traffic()
            for number in 0..<count {
                let presence = #"{"user_id":"\#(number + 100)","status":"online"}"#
                try traffic.dispatch("PRESENCE_UPDATE", presence, seconds: 86_400 * number)
            }
            return traffic
        }
    }

    @Test func presencesOfUsersWhoAreOfflineAreForgotten() throws {
        try Self.expectBounded { count in
            var traffic = Traffic()
            for number in 0..<count {
                let status = number < count - 20 ? "offline" : "idle"
                try traffic.dispatch("PRESENCE_UPDATE", #"{"user_id":"\#(number + 100)","status":"\#(status)"}"#)
            }
            return traffic
        }
    }

    /// However many users a remote makes up within a moment.
    @Test func ofPresencesAndTypingTheLatestStay() throws {
        var traffic = Traffic()
        for number in 0..<Community.usersMax + 50 {
            try traffic.dispatch("PRESENCE_UPDATE", #"{"user_id":"\#(number)","status":"online"}"#, seconds: 1000)
            try traffic.dispatch("TYPING_START", #"{"channel_id":"7","user_id":"\#(number)"}"#, seconds: 1000)
        }
        let retained = Self.fold(traffic.events).retained(by: Self.policy)
        for section in [Section.presences, .typing] {
            let users = retained.rows(in: section, asOf: Timestamp(seconds: 1000)).compactMap { $0["user"]?.string }
            #expect(users.count == Community.usersMax)
            #expect(!users.contains("49") && users.contains("50"))
        }
        #expect(retained.neededSequences.count <= 2 * Community.usersMax + 2)
    }

    @Test func aPresenceThatWasForgottenComesAgain() throws {
        var traffic = Traffic()
        let presence = { (user: Int) in #"{"user_id":"\#(user)","status":"online"}"# }
        try traffic.dispatch("PRESENCE_UPDATE", presence(1), seconds: 0)
        try traffic.dispatch("PRESENCE_UPDATE", presence(2), seconds: 86_400 * 31)
        var retained = Self.fold(traffic.events).retained(by: Self.policy)
        let users = { (state: LogState) in
            state.rows(in: .presences, asOf: Timestamp(seconds: 0)).map { $0["user"]?.string }
        }
        #expect(users(retained) == ["2"])
        try traffic.dispatch("PRESENCE_UPDATE", presence(1))
        retained = Self.fold(traffic.events.suffix(1), from: retained)
        #expect(users(retained) == ["1", "2"])
    }

    @Test func framesSeenOnConnectionsThatAreOverAreForgotten() throws {
        let make = { (count: Int) in
            var traffic = Traffic()
            for number in 0..<count {
                let second = number >= count - 20
                let frame = #"{"op":0,"s":\#(number + 1),"t":"RESUMED","d":{}}"#
                let seconds = second ? 86_400 * 90 + number : number
                try traffic.receive(frame, connection: second ? "b" : "a", seconds: seconds)
            }
            return traffic
        }
        try Self.expectBounded(make, tail: 5)
        let state = Self.fold(try make(400).events).retained(by: Self.policy)
        let gateway = try #require(state.sources.first?.parts.gateway)
        let facts = JSONValue.written { gateway.connections.writeFacts(to: &$0) }
        let connections = try #require(facts["connections"]?.array)
        #expect(connections.map { $0["frames"]?.array?.count } == [0, 20])
        #expect(connections.map { $0["greatest"]?.number?.int64 } == [380, 400])
    }
}
