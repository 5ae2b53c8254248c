import EventLog

extension RemoteTime {
    /// RFC 3339 as Foundation's ISO 8601 formatter takes it: upper-case `T` and `Z`, and no 60th second.
    static func upperCaseRFC3339(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count > 18, bytes[17] < UInt8(ascii: "6"), !bytes.contains(UInt8(ascii: "t")),
            !bytes.contains(UInt8(ascii: "z"))
        else { return nil }
        return Timestamp(rfc3339: text)
    }

    /// What JavaScript's `Date` makes of a text or of a number of milliseconds; `nil` for what is no date. Without a zone
    /// it is UTC: the zone of the machine that read it is not in the log.
    static func javaScriptDate(_ value: JSONValue) -> Timestamp? {
        switch value {
        case .number(let number): number.int64.flatMap { Timestamp(milliseconds: $0) }
        case .string(let text): ScriptDateParser.milliseconds(of: text).flatMap { Timestamp(milliseconds: $0) }
        default: nil
        }
    }
}
