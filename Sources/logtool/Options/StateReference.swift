import ArgumentParser
import Projections

/// A state as the command line names it: `LOG[@POINT][#PROFILE]`, a state document (`*.json`) or `-`.
enum StateReference: Hashable {
    case log(path: String, point: Point?, profile: Profile)
    case document(path: String)
    case standardInput

    /// Reads a reference. The last `@` and the last `#` after the last `/` count, so that directories may have either
    /// in their names.
    static func parse(_ text: String) throws -> StateReference {
        if text == "-" { return .standardInput }
        if text.hasSuffix(".json") { return .document(path: text) }
        let nameStart = text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex
        let marks = ["@", "#"].compactMap { text[nameStart...].lastIndex(of: Character($0)) }.sorted()
        var point: Point?
        var profile = Profile.canonical
        for (index, mark) in marks.enumerated() {
            let end = index + 1 < marks.count ? marks[index + 1] : text.endIndex
            let part = String(text[text.index(after: mark)..<end])
            if text[mark] == "@" {
                point = try PointArgument.parse(part)
            } else {
                profile = try ProfileArgument.parse(part)
            }
        }
        let path = String(text[..<(marks.first ?? text.endIndex)])
        if path.isEmpty { throw ValidationError("\"\(text)\" names no log: write LOG, LOG@POINT or LOG#PROFILE") }
        return .log(path: path, point: point, profile: profile)
    }
}
