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
        let members = try object(payload, SessionMembers.init)
        guard let status = members.state?.string, states.contains(status) else {
            throw rejected("state is none of working, idle, needs_input, not_running")
        }
        // Stricter than for a prompt: a session's age counts from this time.
        let timestamp = members.timestamp?.string
        let instant = timestamp.flatMap(RemoteTime.statusFile)
        if let stamp = members.timestamp, stamp.kind != .null, instant == nil {
            throw rejected("timestamp is no time of the form YYYY-MM-DDThh:mm:ss with a zone")
        }
        try requireText(members.project, "project")
        try requireText(members.message, "message")
        return Session(
            status: status,
            project: members.project?.string,
            timestamp: timestamp,
            instant: instant,
            pid: try pid(members.pid)
        )
    }

    /// Reads a prompt's file; a fault if it is empty, malformed or rejected. A `timestamp` may be any text: the time of
    /// receipt replaces an unreadable one.
    static func prompt(_ payload: UnsafeRawBufferPointer) throws(Fault) -> ObjectView {
        let members = try object(payload, ObjectView.init)
        let required: [StaticString] = ["session_id", "project", "prompt_message", "notification_type", "timestamp"]
        for name in required where members[name]?.kind != .string {
            throw rejected("\(name) is missing or no text")
        }
        let optional: [StaticString] = ["transcript_path", "transcript_excerpt", "transcript_excerpt_base64"]
        for name in optional { try requireText(members[name], name) }
        _ = try pid(members["pid"])
        return members
    }

    /// The payload as an object. An empty file is told from a malformed one: a writer may have emptied it and not
    /// written yet.
    private static func object<Object>(
        _ payload: UnsafeRawBufferPointer,
        _ read: (UnsafeRawBufferPointer) throws(JSONError) -> Object?
    ) throws(Fault) -> Object {
        if payload.isEmpty { throw Fault(reason: "empty") }
        guard let object = try? read(payload) else {
            // Read again, as `try?` gives `nil` for both.
            let isJSON = (try? JSONValue.parse(payload)) != nil
            throw Fault(reason: isJSON ? "rejected: no object" : "malformed: not one JSON text")
        }
        return object
    }

    /// Refuses a member that is neither a text nor absent. Null counts as absent.
    private static func requireText(_ value: ValueView?, _ name: StaticString) throws(Fault) {
        if let value, value.kind != .string, value.kind != .null { throw rejected("\(name) is no text") }
    }

    /// The process id; refuses one that is neither absent nor a whole number.
    private static func pid(_ value: ValueView?) throws(Fault) -> Int64? {
        guard let value, value.kind != .null else { return nil }
        guard let pid = value.number?.wholeInt64 else { throw rejected("pid is no whole number of 64 bits") }
        return pid
    }

    private static func rejected(_ reason: String) -> Fault { Fault(reason: "rejected: \(reason)") }

    static let states = ["working", "idle", "needs_input", "not_running"]
}

/// The members of a session's file, each with the last of its values. Borrows the payload.
private struct SessionMembers {
    private(set) var state: ValueView?
    private(set) var timestamp: ValueView?
    private(set) var project: ValueView?
    private(set) var message: ValueView?
    private(set) var pid: ValueView?

    /// Reads one JSON text in one pass; `nil` if it is no object.
    ///
    /// - Throws: `JSONError` for bytes that are not one JSON text.
    init?(_ payload: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(payload)
        guard try reader.kind() == .object else {
            try reader.skip()
            try reader.finish()
            return nil
        }
        try reader.enterObject()
        while let name = try reader.nextMember() {
            let value = ValueView(kind: try reader.kind(), bytes: try reader.slice())
            if name == "state" {
                state = value
            } else if name == "timestamp" {
                timestamp = value
            } else if name == "project" {
                project = value
            } else if name == "message" {
                message = value
            } else if name == "pid" {
                pid = value
            }
        }
        try reader.finish()
    }
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
