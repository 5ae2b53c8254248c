import EventLog
import Foundation
import TestSupport

/// What an app sends on a day without bugs, drawn from a seed.
///
/// Messages are written, answered, edited and deleted in several channels by many people; connections break and are made again;
/// payloads have members that nobody here knows. Every client for which a test compares readings reads it as it was meant.
struct NormalTraffic {
    private var app: any AppTraffic
    private var random: SeededGenerator
    private var number = 0

    /// - Parameters:
    ///   - scenario: A scenario's name, which begins with its app's.
    ///   - bug: The events that the traffic will have in its midst.
    init(_ scenario: String, around bug: [DraftEvent], seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        switch scenario.prefix(while: { $0 != "-" }) {
        case "retrocast": app = RetrocastTraffic()
        case "vibechannel": app = VibeChannelTraffic()
        case "punchlist": app = PunchlistTraffic(kind: bug.first?.kind.rawValue ?? "sse.event/1")
        case "vibestatus": app = VibeStatusTraffic()
        case "sidebar": app = SideBarTraffic()
        default: throw CocoaError(.formatting)
        }
    }

    /// How many events come before the bug.
    mutating func place(among count: Int) -> Int { Int.random(in: 1..<count, using: &random) }

    /// So many events, ten milliseconds apart, up to a time or from it on.
    mutating func drafts(_ count: Int, around time: Timestamp, before: Bool) throws -> [DraftEvent] {
        let start = time.microseconds + (before ? -10_000 * Int64(count + 1) : 10_000)
        return try (0..<count).map { index in
            number += 1
            let time = Timestamp(microseconds: start + 10_000 * Int64(index))
            return try app.next(number, at: time, isAfterBug: !before, using: &random).draft(number, at: time)
        }
    }

    /// A bug's events as they would be among this traffic.
    mutating func joined(_ drafts: [DraftEvent]) throws -> [DraftEvent] { try drafts.map { try app.joined($0) } }
}

/// The traffic of one app, an event after another.
protocol AppTraffic {
    mutating func next(
        _ number: Int,
        at time: Timestamp,
        isAfterBug: Bool,
        using random: inout SeededGenerator
    ) throws -> TrafficEvent

    /// A bug's event as it would be after the last one.
    mutating func joined(_ draft: DraftEvent) throws -> DraftEvent
}

extension AppTraffic {
    func joined(_ draft: DraftEvent) throws -> DraftEvent { draft }
}

/// One event of the traffic, without its place.
struct TrafficEvent {
    var kind: String
    var payload = ""
    var attributes: [String: String] = [:]
    var key: String?
    var source = "app"

    static func link(_ state: String, source: String = "app") -> TrafficEvent {
        var attributes = ["link": state]
        if state == "close" { attributes["code"] = "1006" }
        return TrafficEvent(kind: "recorder.link/1", attributes: attributes, source: source)
    }

    fileprivate func draft(_ number: Int, at time: Timestamp) throws -> DraftEvent {
        DraftEvent(
            recordedAt: time,
            source: try SourceName(source),
            kind: try EventKind(kind),
            key: try EventKey(key ?? "normal/\(number)"),
            attributes: try Attributes(
                attributes.sorted { $0.key < $1.key }.map { Attributes.Pair(name: $0.key, value: $0.value) }
            ),
            payload: Array(payload.utf8)
        )
    }
}

extension SeededGenerator {
    private static let words = """
        normal words about leeks beans soup twine the gate garden kitchen who brings milk tea cake tomorrow never mind done \
        looks good to me can you look at it please why not later this evening works again thanks
        """.split(separator: " ")

    /// A sentence or two.
    mutating func text() -> String { sentence(Int.random(in: 2...14, using: &self)) }

    /// So many words.
    mutating func sentence(_ count: Int) -> String {
        (0..<count).map { _ in Self.words[Int.random(in: 0..<Self.words.count, using: &self)] }.joined(separator: " ")
    }

    /// The index of what is drawn, each as often as its weight says.
    mutating func draw(_ weights: [Int]) -> Int {
        var left = Int.random(in: 0..<weights.reduce(0, +), using: &self)
        return weights.firstIndex { weight in
            left -= weight
            return left < 0
        } ?? 0
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    mutating func hex(_ digits: Int) -> String {
        (0..<digits).map { _ in String(below(16), radix: 16) }.joined()
    }
}
