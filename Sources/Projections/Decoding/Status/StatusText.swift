import EventLog

/// Reads the text of a status or prompt file.
enum StatusText {
    /// Why a text is refused, in lower case and without its contents. Begins with `empty`, `malformed` or `rejected`.
    struct Fault: Error {
        let reason: String
    }

    /// The object of a session's file; a fault if it is empty, malformed or rejected.
    static func session(_ payload: UnsafeRawBufferPointer) -> Result<JSONObject, Fault> {
        accepted(object(payload), unless: sessionFault)
    }

    /// The object of a prompt's file; a fault if it is empty, malformed or rejected.
    static func prompt(_ payload: UnsafeRawBufferPointer) -> Result<JSONObject, Fault> {
        accepted(object(payload), unless: promptFault)
    }

    private static func accepted(
        _ object: Result<JSONObject, Fault>,
        unless fault: (JSONObject) -> String?
    ) -> Result<JSONObject, Fault> {
        object.flatMap { object in
            fault(object).map { .failure(Fault(reason: "rejected: \($0)")) } ?? .success(object)
        }
    }

    /// The payload as an object. An empty file is told from a malformed one: a writer may have emptied it and not
    /// written yet.
    private static func object(_ payload: UnsafeRawBufferPointer) -> Result<JSONObject, Fault> {
        if payload.isEmpty { return .failure(Fault(reason: "empty")) }
        guard let value = try? JSONValue.parse(payload) else {
            return .failure(Fault(reason: "malformed: not one JSON text"))
        }
        return value.object.map(Result.success) ?? .failure(Fault(reason: "rejected: no object"))
    }

    /// Why a session's text is rejected; `nil` if it is accepted. Null counts as absent, except for `state`.
    private static func sessionFault(in object: JSONObject) -> String? {
        guard let state = object["state"]?.string, states.contains(state) else {
            return "state is none of working, idle, needs_input, not_running"
        }
        // Stricter than for a prompt: a session's age counts from this time.
        if let value = present(object["timestamp"]), value.string.flatMap(RemoteTime.statusFile) == nil {
            return "timestamp is no time of the form YYYY-MM-DDThh:mm:ss with a zone"
        }
        for name in ["project", "message"] {
            if let value = present(object[name]), value.string == nil { return "\(name) is no text" }
        }
        return pidFault(in: object)
    }

    /// Why a prompt's text is rejected; `nil` if it is accepted. A `timestamp` may be any text: the time of receipt
    /// replaces an unreadable one.
    private static func promptFault(in object: JSONObject) -> String? {
        for name in ["session_id", "project", "prompt_message", "notification_type", "timestamp"] {
            if object[name]?.string == nil { return "\(name) is missing or no text" }
        }
        for name in ["transcript_path", "transcript_excerpt", "transcript_excerpt_base64"] {
            if let value = present(object[name]), value.string == nil { return "\(name) is no text" }
        }
        return pidFault(in: object)
    }

    /// Why the process id is refused; `nil` if it is accepted or absent.
    private static func pidFault(in object: JSONObject) -> String? {
        guard let value = present(object["pid"]) else { return nil }
        return value.number?.wholeInt64 == nil ? "pid is no whole number of 64 bits" : nil
    }

    private static func present(_ value: JSONValue?) -> JSONValue? {
        value?.isNull == true ? nil : value
    }

    static let states: Set<String> = ["working", "idle", "needs_input", "not_running"]
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
