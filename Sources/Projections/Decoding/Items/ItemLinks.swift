import EventLog

/// The connections that item lists came on, and the times without one (I29).
///
/// Each snapshot holds a whole list, so the first one after such a time shows all that is there then. What was there
/// only meanwhile is missing.
struct ItemLinks: Codable, Sendable {
    private(set) var outages = ConnectionOutages()
    /// When the last event was received; `nil` before the first.
    private var lastHeard: Timestamp?
    /// When the last link was opened.
    private var openedAt: Timestamp?
    /// The last event accounted for. A compacted log replays kept events up to here again; they change nothing.
    private var upTo: UInt64 = 0

    init() {}

    /// Notes an event of the stream, one without a list included: the connection was heard.
    mutating func heard(_ envelope: Envelope) {
        guard envelope.sequence.rawValue > upTo else { return }
        upTo = envelope.sequence.rawValue
        lastHeard = envelope.recordedAt
        let name = envelope.attributes["connection"]
        guard !outages.hears(name) else { return }
        // A HAR gives all events of a body the time of its end.
        let isLate = envelope.attributes["time"] == "body"
        outages.begin(name, at: isLate ? openedAt ?? envelope.recordedAt : envelope.recordedAt)
    }

    /// Notes a link that opened or closed. A recorder has one at a time, a browser may have several.
    mutating func linkChanged(_ envelope: Envelope) {
        guard envelope.sequence.rawValue > upTo, let lastHeard else { return }
        upTo = envelope.sequence.rawValue
        let name = envelope.attributes["connection"]
        let isOpen = envelope.attributes["link"] == "open"
        if isOpen { openedAt = envelope.recordedAt }
        let endsAll = isOpen && envelope.attributes["by"] != "har"
        for ended in outages.heard where endsAll || ended == name { outages.end(ended, lastHeard: lastHeard) }
    }
}

extension ItemLinks {
    /// Everything; `null` if no event was seen.
    var facts: JSONValue {
        guard let lastHeard else { return .null }
        return .object([
            "upTo": .string(String(upTo)),
            "lastHeard": .int(lastHeard.microseconds),
            "openedAt": openedAt.map { .int($0.microseconds) },
            "outages": outages.facts,
        ])
    }

    /// Reads what `facts` wrote, except null.
    init(facts: JSONValue) throws {
        guard let upTo = facts["upTo"]?.string.flatMap(UInt64.init), let heard = facts["lastHeard"]?.number?.int64
        else {
            throw ProjectionError.facts("the connections of a list have another form")
        }
        self.upTo = upTo
        lastHeard = Timestamp(microseconds: heard)
        openedAt = facts["openedAt"]?.number?.int64.map { Timestamp(microseconds: $0) }
        outages = try ConnectionOutages(facts: facts["outages"])
    }
}
