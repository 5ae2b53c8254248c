import JSON

#if Recorders
import EventLog

/// An interval in which changes may have been missed, as the log records it (I29).
struct RecordedGap: Equatable, Sendable {
    /// The key of the event that opened the gap; the closing event has `/closed` behind it.
    let key: String
    /// The part of the source that the gap concerns; `nil` for the whole source.
    let topic: String?
    /// A raw value of `GapReason`, or another source's own word (docs/events.md).
    let reason: String
    /// The last instant at which the recorder is known to have listened (I29).
    let from: Timestamp
    /// The end of the interval; `nil` while changes may still be missed.
    var to: Timestamp?
    /// The means that would close it: `snapshot`, `replay` or `nothing`.
    var closes: String
    /// `LiveClock.steps` when the gap opened in this run; 0 for one of an earlier run. Not saved.
    var stepsBefore: Int64 = 0

    init(key: String, topic: String?, reason: String, from: Timestamp, to: Timestamp? = nil, closes: String) {
        (self.key, self.topic, self.reason, self.from, self.to, self.closes) = (key, topic, reason, from, to, closes)
    }

    /// The payload of the event that opens or closes the gap; pass `nil` for `to` in the event that opens it.
    func payload(to: Timestamp?) -> [UInt8] {
        var writer = JSONWriter()
        writer.begin("{")
        if let topic {
            writer.name("topic")
            writer.string(topic)
        }
        writer.name("reason")
        writer.string(reason)
        writer.name("from")
        writer.string(from.description)
        if let to {
            writer.name("to")
            writer.string(to.description)
        }
        writer.name("closes")
        writer.string(closes)
        writer.end("}")
        return writer.bytes
    }
}

/// The journal's state in the source's bookmark. Holds no secret (I14): the journal leaves out a session that has one.
struct JournalBookmark: Equatable {
    /// The number of the last connection, or of the reserved one.
    var number: UInt64
    /// The gaps that are not closed, in the order in which they were opened.
    var gaps: [RecordedGap] = []
    /// When the remote was last heard, as of the last event or mark in the log.
    var lastInbound: Timestamp?
    /// The last mark of life: the recorder listened until then, even if nothing came since `lastInbound`.
    var alive: Timestamp?
    /// The protocol's own state, in UTF-8.
    var session: [UInt8]?

    init(number: UInt64, gaps: [RecordedGap], lastInbound: Timestamp?, session: [UInt8]?) {
        (self.number, self.gaps, self.lastInbound, self.session) = (number, gaps, lastInbound, session)
    }

    /// A copy with a mark of life at `time`, also if the last mark is later by a clock that was set back since.
    func marked(aliveAt time: Timestamp) -> JournalBookmark {
        var marked = self
        marked.alive = time
        return marked
    }

    /// The bookmark's bytes: a JSON object. Numbers are texts, because JSON's are exact only up to 2^53.
    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.begin("{")
        writer.name("connection")
        writer.string(String(number))
        if let lastInbound {
            writer.name("last")
            writer.string(lastInbound.description)
        }
        if let alive {
            writer.name("alive")
            writer.string(alive.description)
        }
        if let session {
            writer.name("session")
            writer.string(session)
        }
        writer.name("gaps")
        writer.begin("[")
        for gap in gaps { gap.write(to: &writer) }
        writer.end("]")
        writer.end("}")
        return writer.bytes
    }

    /// Reads the form that `bytes` writes; `nil` for anything else.
    init?(bytes: [UInt8]) {
        guard let tree = JSONValue(received: bytes), let number = tree["connection"]?.string.flatMap({ UInt64($0) })
        else {
            return nil
        }
        self.number = number
        // A gap that cannot be read is left out; its opening event stays in the log.
        gaps = tree["gaps"]?.array?.compactMap { RecordedGap($0) } ?? []
        lastInbound = tree["last"]?.string.flatMap { Timestamp(rfc3339: $0) }
        alive = tree["alive"]?.string.flatMap { Timestamp(rfc3339: $0) }
        session = tree["session"]?.string.map { Array($0.utf8) }
    }
}

extension RecordedGap {
    fileprivate init?(_ tree: JSONValue) {
        guard let key = tree["key"]?.string, let reason = tree["reason"]?.string, let closes = tree["closes"]?.string,
            let from = tree["from"]?.string.flatMap({ Timestamp(rfc3339: $0) })
        else { return nil }
        let to = tree["to"]?.string.flatMap { Timestamp(rfc3339: $0) }
        self.init(key: key, topic: tree["topic"]?.string, reason: reason, from: from, to: to, closes: closes)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        let members: [(StaticString, String?)] = [
            ("key", key), ("topic", topic), ("reason", reason), ("from", from.description), ("to", to?.description),
            ("closes", closes),
        ]
        writer.begin("{")
        for (name, value) in members {
            guard let value else { continue }
            writer.name(name)
            writer.string(value)
        }
        writer.end("}")
    }
}

extension RecordedGap {
    /// Reads the event that opened a gap; `nil` if the payload is not one.
    init?(key: String, payload: [UInt8]) {
        guard case .object(var members) = JSONValue(received: payload) else { return nil }
        members["key"] = .string(key)
        self.init(.object(members))
    }
}
#endif
