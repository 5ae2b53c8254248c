import EventLog

extension RemoteTime {
    /// Reads RFC 3339 as Foundation's ISO 8601 formatter does: `T` and `Z` in upper case, and no leap second.
    ///
    /// Byte 17 is the first digit of the seconds: 6 begins the leap second 60.
    static func upperCaseRFC3339(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count > 18, bytes[17] < UInt8(ascii: "6"), !bytes.contains(UInt8(ascii: "t")),
            !bytes.contains(UInt8(ascii: "z"))
        else { return nil }
        return Timestamp(rfc3339: text)
    }

    /// Reads a text, or a whole number of milliseconds, as JavaScript's `Date` does; `nil` for anything else. A text
    /// without a zone is UTC: the log does not contain the zone of the client's machine.
    static func javaScriptDate(_ value: JSONValue) -> Timestamp? {
        switch value {
        case .number(let number): number.int64.flatMap { Timestamp(milliseconds: $0) }
        case .string(let text): ScriptDateParser.milliseconds(of: text).flatMap { Timestamp(milliseconds: $0) }
        default: nil
        }
    }
}
