#if Recorders
import EventLog

/// An interval in which changes may have been missed, as it stands in the log.
struct RecordedGap: Equatable, Sendable {
    let key: String
    /// The part of the source that it is about; `nil` for all of it.
    let topic: String?
    let reason: String
    let from: Timestamp
    /// From when on nothing more is missed; `nil` while that goes on.
    var to: Timestamp?
    /// What would close it: `snapshot`, `replay` or `nothing`.
    var closes: String

    init(key: String, topic: String?, reason: String, from: Timestamp, to: Timestamp? = nil, closes: String) {
        (self.key, self.topic, self.reason, self.from, self.to, self.closes) = (key, topic, reason, from, to, closes)
    }

    /// The payload of the gap's event; `to` is left out while the gap is open.
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

/// What a journal keeps in the source's bookmark.
struct JournalBookmark: Equatable {
    var number: UInt64
    var gaps: [RecordedGap] = []
    var lastInbound: Timestamp?
    /// Until when the recorder is known to have listened, where nothing came since `lastInbound`.
    var alive: Timestamp?
    var session: [UInt8]?

    init(number: UInt64, gaps: [RecordedGap], lastInbound: Timestamp?, session: [UInt8]?) {
        (self.number, self.gaps, self.lastInbound, self.session) = (number, gaps, lastInbound, session)
    }

    /// The same with a mark of life.
    func marked(aliveAt time: Timestamp) -> JournalBookmark {
        var marked = self
        marked.alive = max(alive ?? time, time)
        return marked
    }

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

    /// Reads what `bytes` wrote; `nil` for anything else.
    init?(bytes: [UInt8]) {
        guard let tree = JSONTree(parsing: bytes), let number = tree["connection"]?.string.flatMap({ UInt64($0) })
        else {
            return nil
        }
        self.number = number
        gaps = tree["gaps"]?.elements?.compactMap { RecordedGap($0) } ?? []
        lastInbound = tree["last"]?.string.flatMap { Timestamp(rfc3339: $0) }
        alive = tree["alive"]?.string.flatMap { Timestamp(rfc3339: $0) }
        session = tree["session"]?.string.map { Array($0.utf8) }
    }
}

extension RecordedGap {
    fileprivate init?(_ tree: JSONTree) {
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
    /// Reads the event that opened a gap; `nil` for anything else.
    init?(key: String, payload: [UInt8]) {
        guard case .object(var members) = JSONTree(parsing: payload) else { return nil }
        members["key"] = .string(key)
        self.init(.object(members))
    }
}
#endif
