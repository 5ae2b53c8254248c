import EventLog
import JSON

/// Reads the text of a status or prompt file.
enum StatusText {
    /// Why a text is refused, in lower case and without its contents. Begins with `empty`, `malformed` or `rejected`.
    struct Fault: Error {
        let reason: String
    }

    /// What a session's file states.
    struct Session {
        let status: String
        let project: String?
        /// The time stamp as written, and its instant; both `nil` if the file has none.
        let timestamp: String?
        let instant: Timestamp?
        let pid: Int64?
    }

    /// Reads a session's file; a fault if it is empty, malformed or rejected.
    static func session(_ payload: UnsafeRawBufferPointer) throws(Fault) -> Session {
        let members = try object(payload)
        guard let status = members["state"]?.string, states.contains(status) else {
            throw rejected("state is none of working, idle, needs_input, not_running")
        }
        // Stricter than for a prompt: a session's age counts from this time.
        let stamp = members.present("timestamp")
        let timestamp = stamp?.string
        let instant = timestamp.flatMap(RemoteTime.statusFile)
        if stamp != nil, instant == nil {
            throw rejected("timestamp is no time of the form YYYY-MM-DDThh:mm:ss with a zone")
        }
        try requireTexts(["project", "message"], in: members)
        return Session(
            status: status,
            project: members["project"]?.string,
            timestamp: timestamp,
            instant: instant,
            pid: try pid(in: members)
        )
    }

    /// Reads a prompt's file; a fault if it is empty, malformed or rejected. A `timestamp` may be any text: the time of
    /// receipt replaces an unreadable one.
    static func prompt(_ payload: UnsafeRawBufferPointer) throws(Fault) -> ObjectView {
        let members = try object(payload)
        let required: [StaticString] = ["session_id", "project", "prompt_message", "notification_type", "timestamp"]
        for name in required where members[name]?.kind != .string {
            throw rejected("\(name) is missing or no text")
        }
        try requireTexts(["transcript_path", "transcript_excerpt", "transcript_excerpt_base64"], in: members)
        _ = try pid(in: members)
        return members
    }

    /// The payload as an object. An empty file is told from a malformed one: a writer may have emptied it and not
    /// written yet.
    private static func object(_ payload: UnsafeRawBufferPointer) throws(Fault) -> ObjectView {
        if payload.isEmpty { throw Fault(reason: "empty") }
        guard let object = try? ObjectView(payload) else {
            // Read again, as `try?` gives `nil` for both.
            let isJSON = (try? JSONValue.parse(payload)) != nil
            throw Fault(reason: isJSON ? "rejected: no object" : "malformed: not one JSON text")
        }
        return object
    }

    /// Refuses a member that is neither a text nor absent. Null counts as absent.
    private static func requireTexts(_ names: [StaticString], in members: ObjectView) throws(Fault) {
        for name in names {
            if let value = members.present(name), value.kind != .string { throw rejected("\(name) is no text") }
        }
    }

    /// The process id; refuses one that is neither absent nor a whole number.
    private static func pid(in members: ObjectView) throws(Fault) -> Int64? {
        guard let value = members.present("pid") else { return nil }
        guard let pid = value.number?.wholeInt64 else { throw rejected("pid is no whole number of 64 bits") }
        return pid
    }

    private static func rejected(_ reason: String) -> Fault { Fault(reason: "rejected: \(reason)") }

    static let states = ["working", "idle", "needs_input", "not_running"]
}

extension JSONNumber {
    /// The value if it is whole and fits 64 bits; a fraction of zeros or an exponent (`47e2`) is accepted. Counts
    /// decimal digits and rounds nothing (I10).
    var wholeInt64: Int64? {
        if let plain = int64 { return plain }
        let parts = text.lowercased().split(separator: "e", omittingEmptySubsequences: false)
        let digits = (parts.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
        let fraction = digits.count > 1 ? digits[1] : ""
        guard let whole = digits.first, parts.count < 2 || Int(parts[1]) != nil else { return nil }
        var mantissa = String(whole) + fraction
        // Zero is whole under any exponent, and would never run out of zeros below.
        if mantissa.utf8.allSatisfy({ $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "-") }) { return 0 }
        let (exponent, overflow) = (parts.count < 2 ? 0 : Int(parts[1]) ?? 0).subtractingReportingOverflow(
            fraction.count
        )
        // 10^20 exceeds 64 bits. The limit also keeps a hostile exponent from making a long text.
        guard !overflow, exponent <= 20 else { return nil }
        if exponent >= 0 { return Int64(mantissa + String(repeating: "0", count: exponent)) }
        var lost = exponent
        // A negative exponent may remove zeros only: any other digit would be a fraction.
        while lost < 0, mantissa.utf8.last == UInt8(ascii: "0") {
            mantissa.removeLast()
            lost += 1
        }
        return lost == 0 ? Int64(mantissa) : nil
    }
}
