/// The name that a source gets in the log where none is given.
enum SourceNaming {
    /// The kind and the last part of the address, `git-chat`, without what would read as part of an entity, a point or
    /// a profile.
    static func name(kind: String, address: String) -> String {
        // What follows the path of a URL may be secret.
        let address = address.contains("://") ? String(address.prefix { $0 != "?" && $0 != "#" }) : address
        let last = address.split(separator: "/").last { $0 != "." }.map(String.init) ?? ""
        let stem = withoutExtension(last)
        let readable = stem.unicodeScalars.map { scalar in
            "/:@#".unicodeScalars.contains(scalar) || scalar.properties.generalCategory == .control
                ? "-" : String(scalar)
        }
        let name = address == "-" ? "stdin" : readable.joined()
        return name.isEmpty ? kind : "\(kind)-\(shortened(name))"
    }

    private static func withoutExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    private static func shortened(_ name: String) -> String {
        var text = name[...]
        while text.utf8.count > 200 { text.removeLast() }
        return String(text)
    }
}
