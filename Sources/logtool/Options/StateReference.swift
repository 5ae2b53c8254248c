import ArgumentParser
import Clients
import Projections

/// A state as named on the command line: `LOG[@POINT][#PROFILE]`, a state document (`*.json`) or `-`.
///
/// The text alone decides what it is: `.json` is a document, everything else a log. `diff` tells a cache by its suffix
/// (`StateReference+Cache.swift`).
enum StateReference: Hashable {
    case log(path: String, point: Point?, profile: Profile)
    case document(path: String)
    case standardInput

    /// Reads a reference. The last `#` after the last `/` counts, and the last `@` outside a profile's name, so
    /// directories may have either in their names.
    ///
    /// - Throws: `ValidationError` for a point or profile that does not exist, or an empty path. Nothing is opened.
    static func parse(_ text: String) throws -> StateReference {
        if text == "-" { return .standardInput }
        if text.hasSuffix(".json") { return .document(path: text) }
        let nameStart = text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex
        let name = text[nameStart...]
        let hash = name.lastIndex(of: "#")
        let at = name.indices.last { name[$0] == "@" && !isWithinProfile($0, of: text, behind: hash) }
        // In the order of the text: a point may come before the profile or behind it.
        let marks = [at, hash].compactMap(\.self).sorted()
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
    /// True if an `@` belongs to the name of the profile behind a `#`, as in `#vibestatus-mac@1.4`.
    private static func isWithinProfile(_ at: String.Index, of text: String, behind hash: String.Index?) -> Bool {
        guard let hash, hash < at else { return false }
        let behind = text[text.index(after: hash)...]
        return Profile.allCases.contains { profile in
            guard let mark = profile.rawValue.firstIndex(of: "@"), behind.hasPrefix(profile.rawValue) else {
                return false
            }
            // The `@` must be at the place that it has in the profile's name.
            let start = profile.rawValue.distance(from: profile.rawValue.startIndex, to: mark)
            return text.distance(from: hash, to: at) == start + 1
        }
    }

    /// The path of a reference without point and profile; `nil` for others and for standard input.
    var plainPath: String? {
        switch self {
        case .log(let path, nil, .canonical), .document(let path): path
        default: nil
        }
    }
}
