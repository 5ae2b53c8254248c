/// How output for people looks: with or without colour, and how wide.
///
/// Colours carry no meaning alone: marks and words say the same, so a file without colours loses nothing.
struct Style {
    /// The few roles that text has; the raw values are SGR parameters of ECMA-48.
    enum Role: String {
        case heading = "1"
        case author = "36"
        case quiet = "2"
        case added = "32"
        case removed = "31"
        case changed = "33"
    }

    /// Whether to colour.
    let hasColor: Bool
    /// The columns of a line; `nil` for no limit, as in a file.
    let width: Int?

    /// No colour, lines of any length.
    static let plain = Style(hasColor: false, width: nil)

    /// Text in a role's colour. The text must be escaped already.
    func text(_ text: String, _ role: Role) -> String {
        hasColor && !text.isEmpty ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Text from outside, escaped and cut to the rest of a line after `used` columns, but to no fewer than 20.
    func fitted(_ text: String, used: Int) -> String {
        let escaped = DisplayText.escaped(text)
        guard let width else { return escaped }
        return DisplayText.cut(escaped, to: max(width - used, 20))
    }
}
