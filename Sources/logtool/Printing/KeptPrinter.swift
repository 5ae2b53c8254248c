import Projections
import Reduction

/// Prints what stays in a log whose texts were replaced.
enum KeptPrinter {
    /// The most texts of a class that are listed for people.
    private static let textsMax = 12

    static func document(_ result: Anonymizer.Result) -> JSONValue {
        .array(
            result.texts.map { kept in
                .object([
                    "class": .string(kept.name), "about": .string(kept.about),
                    "texts": kept.texts.map { .array($0.map { .string($0) }) },
                ])
            }
        )
    }

    /// A line for each class, with a heading.
    static func lines(_ result: Anonymizer.Result) -> [String] {
        let width = result.texts.map(\.name.count).max() ?? 0
        return ["what stays:"]
            + result.texts.map { kept in
                let shown = (kept.texts ?? []).prefix(textsMax).joined(separator: ", ")
                let more = (kept.texts?.count ?? 0) - textsMax
                let rest = shown.isEmpty ? "" : ": " + shown + (more > 0 ? " and \(more) more" : "")
                return "  \(DisplayText.padded(kept.name, to: width))  \(kept.about)\(rest)"
            }
    }
}
