import Clients
import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Projections
@testable import Reduction

/// A bisection by an expression that no message meets without a text begins at the first payload that holds it.
@Suite struct BisectionBeginningTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 100 : 2

    /// A search for the event that brought a text begins where the text is, and finds what a search from the beginning finds.
    @Test(arguments: ["retrocast", "vibechannel", "sidebar"].flatMap { app in (1...rounds).map { (app, $0) } })
    func aBisectionBeginsAtTheText(app: String, seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let store = try EventStream.log(of: app, parts: 3, in: directory, seed: seed)
        var served = 0
        for profile in [Profile.canonical, .retrocastWeb] {
            var options = ReplayOptions()
            options.profile = profile
            let texts = try store.read { session in
                let state = try Replay.logState(of: session, options: options)
                let parts = state.messageContents.flatMap { [$0, String($0.prefix(3))] }
                return Set(parts).sorted(by: ExactText.precedes)
            }
            for text in texts.prefix(60) where !text.isEmpty {
                let expression = try StateExpression(
                    parsing: "exists(messages[content contains \(JSONValue.string(text).text)])"
                )
                #expect(expression.neededText == text)
                let chance = try LogBisection(of: store, options: options).firstChance(of: expression)
                if app != "retrocast" { #expect(chance == nil) }
                guard let chance else { continue }
                served += 1
                // No state before it holds the text.
                let before = SequenceNumber(chance.rawValue - 1)
                let holds = try store.read {
                    try expression.holds(in: Replay.logState(of: $0, through: before, options: options))
                }
                #expect(!holds, "\(text) at \(before)")
            }
        }
        #expect(app != "retrocast" || served > 10)
    }

    @Test(arguments: [
        (#"exists(messages[content="tea"])"#, "tea"), (#"exists(messages[content contains "te" and id="1"])"#, "te"),
        (#"count(messages) > 3 and exists(deletedMessages[content="tea"])"#, "tea"),
        (#"count(messages[content="tea"]) > 0"#, "tea"), (#"count(messages[content="tea"]) > -1"#, nil),
        (#"not exists(messages[content="tea"])"#, nil),
        (#"exists(messages[content="tea"]) or count(messages) > 1"#, nil), (#"exists(messages[id="1"])"#, nil),
        (#"exists(channels[name="tea"])"#, nil), (#"count(messages[content="tea"]) == 0"#, nil),
        (#"exists(messages[content!="tea"])"#, nil), (#"exists(messages[not content="tea"])"#, nil),
        (#"exists(messages[content="tea" or id="1"])"#, nil),
    ])
    func anExpressionNeedsAText(text: String, needed: String?) throws {
        #expect(try StateExpression(parsing: text).neededText == needed)
    }
}

extension LogState {
    /// The contents of all live messages.
    fileprivate var messageContents: [String] {
        var state = self
        return (state.document()["messages"]?.array ?? []).compactMap { $0["content"]?.string }
    }
}
