/// The default name of a source in the log. It depends on kind and address alone, because a later run must find the
/// same source.
///
/// Two addresses with one last part give one name. Their events would then be one source, so `--as` tells them apart.
enum SourceNaming {
    /// The kind and the last part of the address, such as `git-chat`, without characters that mark an entity, a point
    /// or a profile.
    static func name(kind: String, address: String) -> String {
        // A URL's query and fragment may contain secrets (I14).
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

    /// A name without what follows its last dot; a name that begins with its only dot stays.
    private static func withoutExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// At most 200 bytes, so that name and kind stay within the limit of 255 (I3). Cut between characters.
    private static func shortened(_ name: String) -> String {
        var text = name[...]
        while text.utf8.count > 200 { text.removeLast() }
        return String(text)
    }
}
