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

extension StateReference {
    /// The file that it names where it has no point and no profile; `nil` otherwise.
    var plainPath: String? {
        switch self {
        case .log(let path, nil, .canonical), .document(let path): path
        default: nil
        }
    }

    /// Whether it names a file as databases are called, and no log.
    var isCache: Bool {
        guard let path = plainPath, [".sqlite", ".sqlite3", ".db", ".store"].contains(where: { path.hasSuffix($0) })
        else { return false }
        return ((try? CacheFile(path: path).occupant()) ?? .nothing) != .nothing
    }
}
