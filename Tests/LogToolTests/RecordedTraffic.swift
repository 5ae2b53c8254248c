import EventLog

/// Drafts as a recorder writes them: connections with frames, answers and closes.
struct RecordedTraffic {
    private(set) var drafts: [DraftEvent] = []
    private let kind: String
    private var connection = 0
    private var position = 0
    private var milliseconds: Int64 = 0

    init(kind: String = "gateway.frame/1") {
        self.kind = kind
    }

    mutating func pass(milliseconds span: Int64) { milliseconds += span }

    mutating func open() throws {
        connection += 1
        position = 0
        try add("recorder.link/1", key: "open", ["link": "open"], "")
    }

    mutating func close(_ code: Int, _ reason: String) throws {
        try add("recorder.link/1", key: "close", ["link": "close", "code": "\(code)", "reason": reason], "")
    }

    mutating func frame(_ text: String, _ direction: String = "in") throws {
        position += 1
        try add(kind, key: "\(position)", kind == "sse.event/1" ? [:] : ["dir": direction], text)
    }

    private mutating func add(_ kind: String, key: String, _ attributes: [String: String], _ payload: String) throws {
        milliseconds += 5
        let pairs = attributes.merging(["connection": "c\(connection)"]) { own, _ in own }
        drafts.append(
            DraftEvent(
                recordedAt: Timestamp(microseconds: 1_767_225_600_000_000 + milliseconds * 1_000),
                source: try SourceName("chat"),
                kind: try EventKind(kind),
                key: try EventKey("c\(connection)/\(key)"),
                attributes: try Attributes(pairs.map { Attributes.Pair(name: $0.key, value: $0.value) }),
                payload: Array(payload.utf8)
            )
        )
    }
}

extension RecordedTraffic {
    static let hello = #"{"op":10,"d":{"heartbeat_interval":3600000}}"#

    static func message(_ number: Int, s: Int) -> String {
        #"{"op":0,"d":{"id":"\#(1000 + number)","channel_id":"200","author_id":"7","content":"tea \u0026 grün \#(number)","#
            + #""created_at":"2026-01-01T00:00:00Z","author_username":"nell","author_display_name":"Nell","#
            + #""attachments":null},"s":\#(s),"t":"MESSAGE_CREATE"}"#
    }

    /// Up to ten connections of a gateway: IDENTIFY and RESUME, replays, a hole in the numbers, a swapped pair, all kinds of ends.
    static func gateway(messages: Int = 5, connections: Int = 10) throws -> RecordedTraffic {
        let ends = [
            (1006, "connection lost"), (4000, "closed by the peer"), (1006, "connection lost"),
            (4009, "closed by the peer"), (1001, "closed by the peer"), (1006, "connection lost"),
            (4009, "closed by the peer"), (1006, "connection lost"), (4000, "closed by the peer"),
        ]
        var traffic = RecordedTraffic()
        var number = 0
        for connection in 0..<connections {
            try traffic.open()
            try traffic.frame(hello)
            var s = 0
            if connection == 0 || ends[connection - 1].0 == 4009 {
                s = 1
                try traffic.frame(#"{"op":2,"d":{"token":"[redacted]"}}"#, "out")
                let data = #"{"session_id":"s-\#(connection)","user_id":"7","guilds":[100],"read_states":null}"#
                try traffic.frame(#"{"op":0,"d":\#(data),"s":1,"t":"READY"}"#)
                if connection == 0 {
                    s = 2
                    let channel = #"{"id":"200","guild_id":"100","name":"tea","type":0,"position":0}"#
                    try traffic.frame(#"{"op":0,"d":\#(channel),"s":2,"t":"CHANNEL_CREATE"}"#)
                }
            } else {
                let data = #"{"token":"[redacted]","session_id":"s-0","seq":0}"#
                try traffic.frame(#"{"op":6,"d":\#(data)}"#, "out")
                try traffic.frame(#"{"op":1,"d":null}"#, "out")
                for replayed in max(1, number - 1)...number {
                    s += 1
                    try traffic.frame(message(replayed, s: s))
                }
                try traffic.frame(#"{"op":11}"#)
            }
            traffic.pass(milliseconds: 4_000)
            for place in 0..<messages {
                number += 1
                s += connection == 2 && place == 1 ? 2 : 1
                try traffic.frame(message(number, s: s))
            }
            try traffic.frame("{ not json")
            traffic.pass(milliseconds: 4_000)
            if connection < connections - 1 { try traffic.close(ends[connection].0, ends[connection].1) }
        }
        return traffic
    }

    /// Three connections of a client with two tables.
    static func realtime(
        topics: [String] = ["realtime:public:notes", "realtime:public:files"]
    ) throws -> RecordedTraffic {
        var traffic = RecordedTraffic(kind: "realtime.frame/1")
        var number = 0
        for connection in 0..<3 {
            try traffic.open()
            for (place, topic) in topics.enumerated() {
                let reference = place + 1
                let table = place == 0 ? "notes" : "files"
                let binding = #"{"event":"*","schema":"public","table":"\#(table)"}"#
                let config = #"{"config":{"postgres_changes":[\#(binding)]}}"#
                try traffic.frame(
                    #"{"join_ref":"\#(reference)","ref":"\#(reference)","topic":"\#(topic)","event":"phx_join","payload":\#(config)}"#,
                    "out"
                )
            }
            for (place, topic) in topics.enumerated() {
                let table = place == 0 ? "notes" : "files"
                let bound = #"[{"id":\#(7 + place),"event":"*","schema":"public","table":"\#(table)"}]"#
                try traffic.frame(
                    #"{"ref":"\#(place + 1)","event":"phx_reply","payload":{"status":"ok","response":{"postgres_changes":\#(bound)}},"topic":"\#(topic)"}"#
                )
                try traffic.frame(
                    #"{"ref":null,"event":"system","payload":{"channel":"x","extension":"postgres_changes","message":"Subscribed to PostgreSQL","status":"ok"},"topic":"\#(topic)"}"#
                )
            }
            traffic.pass(milliseconds: 3_000)
            for _ in 0..<5 {
                number += 1
                let table = number % 2 == 0 ? "notes" : "files"
                let data =
                    #"{"schema":"public","table":"\#(table)","type":"INSERT","commit_timestamp":"2026-02-01T10:00:00Z","record":{"id":"n-\#(number)","title":"grün"},"columns":[{"name":"id","type":"uuid"}],"errors":null}"#
                try traffic.frame(
                    #"{"ref":null,"event":"postgres_changes","payload":{"data":\#(data),"ids":[\#(number % 2 == 0 ? 7 : 8)]},"topic":"\#(topics[number % 2 == 0 ? 0 : 1])"}"#
                )
            }
            traffic.pass(milliseconds: 3_000)
            if connection < 2 {
                try traffic.close(
                    connection == 0 ? 1006 : 1012,
                    connection == 0 ? "connection lost" : "closed by the peer"
                )
            }
        }
        return traffic
    }
}
