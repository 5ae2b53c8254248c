import EventLog

/// Times for people: UTC, without `T` and `Z`.
///
/// Times and durations are cut, because a rounded time could lie after the event that it is of. Only `ago` rounds.
enum TimeText {
    /// `2026-01-19 08:30:00.250`: to the millisecond, the rest cut off.
    static func full(_ time: Timestamp) -> String {
        let parts = time.description.split(separator: ".")
        guard parts.count == 2 else { return time.description }
        return "\(parts[0].split(separator: "T").joined(separator: " ")).\(parts[1].prefix(3))"
    }

    /// `2026-01-19T08:30:00Z`, with a fraction unless it is zero: a point that can be typed again.
    static func short(_ time: Timestamp) -> String {
        let text = time.description
        return text.hasSuffix(".000000Z") ? text.dropLast(8) + "Z" : text
    }

    /// `2026-01-19 08:30` for an RFC 3339 text; any other text unchanged. The result is not escaped.
    static func minute(_ text: String) -> String {
        guard let time = Timestamp(rfc3339: text) else { return text }
        let full = time.description
        guard let end = full.utf8.firstIndex(of: UInt8(ascii: "T")) else { return full }
        return "\(full[..<end]) \(full[full.index(after: end)...].prefix(5))"
    }

    /// `12s`, `3m 20s`, `2h`, `4d 7h`: at most two units; the rest is cut off.
    static func duration(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        var left = milliseconds.magnitude / 1_000
        let sign = milliseconds < 0 && left > 0 ? "-" : ""
        var parts: [String] = []
        for (unit, seconds) in [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)] as [(String, UInt64)] {
            if left >= seconds { parts.append("\(left / seconds)\(unit)") }
            left %= seconds
        }
        return parts.isEmpty ? "0s" : sign + parts.prefix(2).joined(separator: " ")
    }

    /// `1 second ago`, `89 minutes ago`, `10 months ago`: one rounded unit, chosen as git does so that the number is
    /// telling.
    static func ago(seconds: Int) -> String {
        let units: [(seconds: Int, upTo: Int, noun: String)] = [
            (1, 90, "second"), (60, 90, "minute"), (3600, 36, "hour"), (86_400, 14, "day"), (604_800, 10, "week"),
            (2_629_746, 24, "month"), (31_556_952, .max, "year"),
        ]
        let unit = units.first { (seconds + $0.seconds / 2) / $0.seconds < $0.upTo } ?? units[0]
        return counted((seconds + unit.seconds / 2) / unit.seconds, unit.noun) + " ago"
    }
}

/// Sizes for people, in powers of 1024.
enum ByteCountText {
    /// `812 B`, `3.4 KiB`, `20.0 MiB`; the rest is cut off.
    static func text(_ count: some BinaryInteger) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        var tenths = UInt64(clamping: count).multipliedReportingOverflow(by: 10).partialValue
        guard tenths >= 10_240 else { return "\(count) B" }
        var unit = -1
        while tenths >= 10_240, unit + 1 < units.count {
            tenths /= 1024
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}

extension String {
    /// The text without the spaces at its end.
    func trimmingTrailingSpaces() -> String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
