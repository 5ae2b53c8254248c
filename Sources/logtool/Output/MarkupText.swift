/// Text within HTML and XML.
enum MarkupText {
    /// The reference for a character that has a meaning in markup; `nil` for all others.
    static func reference(to scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: nil
        }
    }
}
