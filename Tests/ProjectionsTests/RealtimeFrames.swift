import EventLog

/// Realtime frames of tests.
enum RealtimeFrames {
    /// A change as version 1.0.0 sends it. `columns` are names, `seconds` the time of commit after 10:00.
    static func change(
        _ type: String,
        table: String = "notes",
        seconds: Int,
        columns: [String] = [],
        record: String? = nil,
        old: String? = nil,
        errors: String = "null",
        ref: Int = 0
    ) -> String {
        let minute = 10 + seconds / 60
        let second = seconds % 60
        let time = "2026-02-01T10:\(minute):\(second < 10 ? "0" : "")\(second).5Z"
        let named = columns.map { #"{"name":"\#($0)","type":"text"}"# }.joined(separator: ",")
        var members = [
            #""schema":"public""#, #""table":"\#(table)""#, #""type":"\#(type)""#, #""commit_timestamp":"\#(time)""#,
            #""columns":[\#(named)]"#, #""errors":\#(errors)"#,
        ]
        if let record { members.append("\"record\":\(record)") }
        if let old { members.append("\"old_record\":\(old)") }
        let data = members.joined(separator: ",")
        return
            #"{"topic":"realtime:public:\#(table)","event":"postgres_changes","ref":null,"payload":{"ids":[\#(ref)],"data":{\#(data)}}}"#
    }

    static func subscribed(_ topic: String) -> String {
        #"{"topic":"\#(topic)","event":"system","payload":{"extension":"postgres_changes","status":"ok"},"ref":null}"#
    }

    static func plain(_ event: String, _ topic: String) -> String {
        #"{"topic":"\#(topic)","event":"\#(event)","payload":{},"ref":"1"}"#
    }
}

extension SourceHarness {
    /// The state after frames that come in, one event each.
    static func receiving(_ frames: [String]) throws -> SourceHarness {
        var source = SourceHarness()
        for (index, frame) in frames.enumerated() { source.apply(try .frame(UInt64(index + 1), frame)) }
        return source
    }
}
