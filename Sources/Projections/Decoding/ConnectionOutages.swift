import EventLog

/// The times in which none of a source's connections was heard (I29), for sources whose frames show them.
///
/// A connection is heard from the first change that comes in on it until its link closes, or until another one begins
/// in its place. A connection that never was heard opens no gap, and without an earlier one there is none.
struct ConnectionOutages: Codable, Sendable {
    static let reason = "the connection was lost"

    /// Further gaps are ignored, because facts must not grow with a remote that drops every connection (I27).
    private static let countMax = 65_536
    /// A browser may have several connections at once; of more, the oldest are forgotten.
    private static let heardCountMax = 8

    /// The names of the connections that are heard, the newest last; `nil` is the unnamed one.
    private(set) var heard: [String?] = []
    /// In the order in which they opened; at most the last has no end.
    private(set) var gaps: [Gap] = []

    init() {}

    /// Whether changes come in on a connection.
    func hears(_ name: String?) -> Bool { heard.contains(name) }

    /// Notes that changes come in on a connection, which ends the gap.
    mutating func begin(_ name: String?, at time: Timestamp) {
        guard !hears(name) else { return }
        if heard.count == Self.heardCountMax { heard.removeFirst() }
        heard.append(name)
        if let last = gaps.indices.last, gaps[last].to == nil { gaps[last].to = time }
    }

    /// Notes the end of a connection. A gap opens at the last instant at which it was heard, unless another one still
    /// is.
    mutating func end(_ name: String?, lastHeard: Timestamp) {
        guard let place = heard.firstIndex(of: name) else { return }
        heard.remove(at: place)
        guard heard.isEmpty, gaps.count < Self.countMax else { return }
        gaps.append(Gap(topic: nil, from: lastHeard, to: nil, reason: Self.reason))
    }

    /// Removes the gap that ended at `time`: the remote's numbers prove that it sent everything again.
    mutating func removeLast(endedAt time: Timestamp) {
        if let last = gaps.last, last.to == time { gaps.removeLast() }
    }

    /// Everything; `nil` before the first change.
    var facts: JSONValue? {
        if heard.isEmpty, gaps.isEmpty { return nil }
        let names = heard.map { name in name.map { JSONValue.string($0) } ?? .null }
        return .object(["heard": .array(names), "gaps": .array(gaps.map(\.fact))])
    }

    /// Reads what `facts` wrote; the facts of earlier programs have none.
    init(facts: JSONValue?) throws {
        guard let facts, !facts.isNull else { return }
        guard let names = facts["heard"]?.array, let list = facts["gaps"]?.array else {
            throw ProjectionError.facts("the connections of a source have another form")
        }
        heard = names.suffix(Self.heardCountMax).map(\.string)
        gaps = try list.map { fact in
            guard let gap = Gap(fact: fact) else { throw ProjectionError.facts("a gap has another form") }
            return gap
        }
    }
}
