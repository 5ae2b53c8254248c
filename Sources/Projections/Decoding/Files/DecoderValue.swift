import EventLog

/// How a value is found in an event.
indirect enum DecoderValue: Sendable {
    case place(DecoderPlace)
    /// The name of the member that a loop is at, so many levels outside.
    case key(outside: Int)
    case text(String)
    /// A part of the request's path that a rule's pattern names, percent-decoded.
    case path(String)
    /// A member of the request's query, percent-decoded.
    case query(String)
    /// A value that was kept for the connection, or for what a text names.
    case kept(String, of: DecoderValue?)
    /// An attribute of the event, such as `connection`.
    case attribute(String)
    /// The first that is there and neither null nor empty; else what the last one is.
    case first([DecoderValue])
    /// The texts one behind another, those that are none left out; an array gives its elements.
    case join([DecoderValue], by: String)
    /// One part of a text, counted from 0.
    case split(DecoderValue, by: String, part: Int)
    /// A text without what it begins or ends with.
    case strip(DecoderValue, prefix: String, suffix: String)
    /// A place in the JSON that a text holds.
    case json(DecoderValue, DecoderPlace)
    case time(DecoderValue, DecoderTimeForm)
    /// Missing unless the tests fit.
    case when(DecoderValue, DecoderTests, isMeant: Bool)
}

/// How a remote writes a time.
enum DecoderTimeForm: String, CaseIterable, Sendable {
    case rfc3339
    case milliseconds = "ms"
    case microseconds = "us"
    case seconds
    /// `1355517523.000005`: seconds with a fraction, as a text or a number.
    case secondsText = "seconds-text"

    /// The instant since 1970, UTC; `nil` for anything else. Digits beyond the ninth of a fraction are dropped.
    func instant(_ value: DecoderFound) -> Timestamp? {
        if self == .rfc3339 { return value.withWritten { Timestamp(rfc3339Bytes: $0) } ?? nil }
        if let text = value.string { return instant(of: text) }
        return value.digits.flatMap { instant(of: $0) ?? instant(ofNumber: $0) }
    }

    /// The instant of a number with a fraction or an exponent, exact to the nanosecond; what is beyond that is dropped.
    private func instant(ofNumber text: String) -> Timestamp? {
        let places =
            switch self {
            case .rfc3339: 0
            case .milliseconds: 6
            case .microseconds: 3
            case .seconds, .secondsText: 9
            }
        guard places > 0, let number = DecimalNumber(text), number.exponent + places <= Self.digitsMax else {
            return nil
        }
        let count = max(0, number.exponent + places)
        var digits = Array(number.digits.prefix(count))
        digits += [UInt8](repeating: UInt8(ascii: "0"), count: count - digits.count)
        func value(_ digits: some Sequence<UInt8>) -> Int64 { digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
        let (seconds, nanoseconds) = (value(digits.dropLast(9)), value(digits.suffix(9)))
        if !number.isNegative { return Timestamp(seconds: seconds, nanoseconds: UInt32(nanoseconds)) }
        if nanoseconds == 0 { return Timestamp(seconds: -seconds) }
        return Timestamp(seconds: -seconds - 1, nanoseconds: UInt32(1_000_000_000 - nanoseconds))
    }

    /// The most digits of nanoseconds since 1970: more seconds would not fit in 64 bits.
    private static let digitsMax = 27

    /// The instant of a text, or of a number that is written so.
    func instant(of text: String) -> Timestamp? {
        switch self {
        case .rfc3339: return Timestamp(rfc3339: text)
        case .milliseconds: return Int64(text).flatMap { Timestamp(milliseconds: $0) }
        case .microseconds: return Int64(text).map { Timestamp(microseconds: $0) }
        case .seconds: return Int64(text).map { Timestamp(seconds: $0) }
        case .secondsText:
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard let seconds = Int64(parts[0]), !parts[0].hasPrefix("-") else { return nil }
            guard parts.count == 2 else { return Timestamp(seconds: seconds) }
            let digits = parts[1].utf8
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            let nanoseconds = digits.prefix(9).reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 0x30) }
            let scale = (digits.count..<9).reduce(UInt32(1)) { scale, _ in scale * 10 }
            return Timestamp(seconds: seconds, nanoseconds: nanoseconds * scale)
        }
    }

    /// The instant of a value whose form no file gives: a text as RFC 3339, a number as milliseconds.
    static func guessed(_ value: DecoderFound) -> Timestamp? {
        if case .view(let view) = value, view.text == nil {
            milliseconds.instant(value)
        } else {
            rfc3339.instant(value)
        }
    }
}
