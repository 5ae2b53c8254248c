import Foundation
import TestSupport

/// One file of a module, read as far as the tests of the house need: which types it defines, which it names.
struct SourceText {
    let module: String
    /// Below the module's folder; empty for the folder itself.
    let folder: String
    let name: String
    /// The types at the file's top level.
    let defined: Set<String>
    /// Every word that begins with a capital letter and stands behind no dot: types, of whatever module.
    let named: Set<String>

    /// The types at the file's top level and within others.
    let types: Set<String>

    /// All files of all modules; read once, for each takes a while in a build for debugging.
    static func all() throws -> [SourceText] { try files.get() }

    private static let files = Result { try readAll() }

    private static func readAll() throws -> [SourceText] {
        let root = PackageRoot.url.appending(path: "Sources").resolvingSymlinksInPath().path + "/"
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root)
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            try SourceText(path, String(contentsOfFile: root + path, encoding: .utf8))
        }
    }

    private init(_ path: String, _ text: String) {
        let parts = path.split(separator: "/").map(String.init)
        module = parts[0]
        folder = parts.dropFirst().dropLast().joined(separator: "/")
        name = parts[parts.count - 1]
        let code = Self.code(Array(text.utf8))
        (named, types) = Self.names(in: code)
        defined = Set(String(decoding: code, as: UTF8.self).split(separator: "\n").compactMap(Self.definition))
    }

    /// The text without comments to the end of a line and without what stands between quotes.
    private static func code(_ text: [UInt8]) -> [UInt8] {
        var code: [UInt8] = []
        var index = 0
        let (quote, slash, end) = (UInt8(ascii: "\""), UInt8(ascii: "/"), UInt8(ascii: "\n"))
        func at(_ place: Int, _ byte: UInt8) -> Bool { place < text.count && text[place] == byte }
        func begins(at place: Int) -> Bool { at(place, quote) && at(place + 1, quote) && at(place + 2, quote) }
        while index < text.count {
            let byte = text[index]
            if byte == slash, at(index + 1, slash) {
                while index < text.count, text[index] != end { index += 1 }
            } else if byte == quote, begins(at: index) {
                index += 3
                while index < text.count, !begins(at: index) { index += 1 }
                index += 3
            } else if byte == quote {
                index += 1
                while index < text.count, text[index] != quote, text[index] != end {
                    index += text[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                index += 1
            } else {
                code.append(byte)
                index += 1
            }
        }
        return code
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static let kinds: Set<String> = ["struct", "enum", "class", "protocol", "actor", "typealias"]

    private static func names(in code: [UInt8]) -> (named: Set<String>, types: Set<String>) {
        var (named, types): (Set<String>, Set<String>) = ([], [])
        var index = 0
        var follows = false
        while index < code.count {
            guard isOfWord(code[index]) else { index += 1; continue }
            let start = index
            while index < code.count, isOfWord(code[index]) { index += 1 }
            let isMember = start > 0 && code[start - 1] == UInt8(ascii: ".")
            let word = String(decoding: code[start..<index], as: UTF8.self)
            if follows { types.insert(word) }
            follows = kinds.contains(word)
            if !isMember, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(code[start]) { named.insert(word) }
        }
        return (named, types)
    }

    /// The type that a line at the top level defines.
    private static func definition(_ line: Substring) -> String? {
        guard let first = line.first, first.isLetter || first == "@" else { return nil }
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(where: { kinds.contains(String($0)) }), place + 1 < words.count,
            words[..<place].allSatisfy({ $0 != "func" && $0 != "let" && $0 != "var" && $0 != "extension" })
        else { return nil }
        return String(words[place + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
}
