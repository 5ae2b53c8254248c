/// A date as people write it, which is written again in its form.
struct WrittenDate: Hashable {
    /// Counted from 1970-01-01.
    let day: Int
    private let form: Form

    private enum Form: Hashable {
        /// The pieces between and around the numbers, for month's name first or day first.
        case named(isMonthFirst: Bool, isShort: Bool, isPadded: Bool, first: String, second: String, style: Style)
        /// Numbers with a sign between them, and where the year stands and the month.
        case numbers(sign: Character, order: [Field], isPadded: Bool)
    }

    private enum Field: Hashable { case year, month, day }
    private enum Style: Hashable { case lower, capital, upper }

    static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Whether a text begins as dates do; a cheap look before `read`.
    static func canBegin(_ text: String) -> Bool {
        let start = Array(text.utf8.prefix(5))
        guard start.count == 5 else { return false }
        if (0x30...0x39).contains(start[0]) {
            return start.dropFirst().contains { [0x20, 0x2D, 0x2E, 0x2F].contains($0) }
        }
        let letters = String(decoding: start.prefix(3), as: UTF8.self).lowercased()
        return months.contains { $0.hasPrefix(letters) }
    }

    /// The date at the beginning of a text, and how many characters it has; `nil` without one.
    static func read(_ text: String) -> (WrittenDate, Int)? {
        guard let first = text.utf8.first else { return nil }
        if (0x30...0x39).contains(first) { return numbers(text) ?? dayFirst(text) }
        return monthFirst(text)
    }

    private static func numbers(_ text: String) -> (WrittenDate, Int)? {
        guard let match = text.prefixMatch(of: /([0-9]{1,4})([\/.])([0-9]{1,2})([\/.])([0-9]{1,4})/),
            match.2 == match.4, let sign = match.2.first, let first = Int(match.1), let second = Int(match.3),
            let third = Int(match.5)
        else { return nil }
        let isPadded = match.3.hasPrefix("0") || match.1.hasPrefix("0") || match.1.count == 4 && match.5.hasPrefix("0")
        let orders: [[Field]] =
            match.1.count == 4
            ? [[.year, .month, .day]]
            : sign == "." ? [[.day, .month, .year]] : [[.month, .day, .year], [.day, .month, .year]]
        guard match.1.count == 4 || match.5.count == 4 else { return nil }
        for order in orders {
            let values = Dictionary(uniqueKeysWithValues: zip(order, [first, second, third]))
            guard let year = values[.year], let month = values[.month], let day = values[.day],
                let number = CalendarDay.number(year, month, day)
            else { continue }
            return (
                WrittenDate(day: number, form: .numbers(sign: sign, order: order, isPadded: isPadded)), match.0.count
            )
        }
        return nil
    }

    private static func monthFirst(_ text: String) -> (WrittenDate, Int)? {
        guard let match = text.prefixMatch(of: /([A-Za-z]{3,9})(\.? )([0-9]{1,2})(,? )([0-9]{4})/) else { return nil }
        return named(match.1, match.3, match.5, true, match.2, match.4, count: match.0.count)
    }

    private static func dayFirst(_ text: String) -> (WrittenDate, Int)? {
        guard let match = text.prefixMatch(of: /([0-9]{1,2})([ -])([A-Za-z]{3,9})([ -])([0-9]{4})/) else { return nil }
        return named(match.3, match.1, match.5, false, match.2, match.4, count: match.0.count)
    }

    private static func named(
        _ name: Substring,
        _ day: Substring,
        _ year: Substring,
        _ isMonthFirst: Bool,
        _ first: Substring,
        _ second: Substring,
        count: Int
    ) -> (WrittenDate, Int)? {
        let lower = name.lowercased()
        guard let month = months.firstIndex(where: { $0 == lower || $0.prefix(3) == lower }),
            let dayNumber = Int(day), let yearNumber = Int(year),
            let number = CalendarDay.number(yearNumber, month + 1, dayNumber)
        else { return nil }
        let style: Style = name == lower ? .lower : name == name.uppercased() ? .upper : .capital
        let form = Form.named(
            isMonthFirst: isMonthFirst,
            isShort: lower.count == 3,
            isPadded: day.hasPrefix("0"),
            first: String(first),
            second: String(second),
            style: style
        )
        return (WrittenDate(day: number, form: form), count)
    }

    /// The date some days later, in the same form.
    func text(movedBy days: Int) -> String {
        let parts = CalendarDay.parts(of: day + days)
        switch form {
        case .numbers(let sign, let order, let isPadded):
            return order.map { field in
                switch field {
                case .year: String(parts.year)
                case .month: Self.padded(parts.month, isPadded)
                case .day: Self.padded(parts.day, isPadded)
                }
            }.joined(separator: String(sign))
        case .named(let isMonthFirst, let isShort, let isPadded, let first, let second, let style):
            let full = Self.months[parts.month - 1]
            let name = isShort ? String(full.prefix(3)) : full
            let styled =
                switch style {
                case .lower: name
                case .upper: name.uppercased()
                case .capital: name.prefix(1).uppercased() + name.dropFirst()
                }
            let day = Self.padded(parts.day, isPadded)
            let pair = isMonthFirst ? (styled, day) : (day, styled)
            return pair.0 + first + pair.1 + second + String(parts.year)
        }
    }

    private static func padded(_ number: Int, _ isPadded: Bool) -> String {
        isPadded && number < 10 ? "0\(number)" : String(number)
    }
}
