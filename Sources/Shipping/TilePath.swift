/// The names of files in a tree, as C2SP's tlog-tiles has them (https://c2sp.org/tlog-tiles).
enum TilePath {
    /// How many hashes a full tile has, and how many entries a full bundle of them.
    static let width: UInt64 = 256

    /// The path of the tile with an index at a level. A width below 256 is that of a partial tile.
    static func hashes(level: Int, index: UInt64, width: Int) -> [String] {
        ["tile", String(level)] + place(index, width: width)
    }

    /// What a path of hashes names; `nil` for any other path.
    static func parse(_ path: [String]) -> (level: Int, index: UInt64, width: Int)? {
        guard path.count >= 3, path.count <= 12, path[0] == "tile", let level = Int(path[1]), (0..<8).contains(level)
        else { return nil }
        var names = path[2...]
        var width = Int(Self.width)
        if let name = names.dropLast().last, name.hasSuffix(".p"), let number = names.popLast() {
            guard let partial = Int(number) else { return nil }
            width = partial
            names[names.endIndex - 1].removeLast(2)
        }
        let digits = names.map { $0.hasPrefix("x") ? String($0.dropFirst()) : $0 }.joined()
        guard (1...Int(Self.width)).contains(width), let index = UInt64(digits), index < UInt64(1) << 55,
            hashes(level: level, index: index, width: width) == path
        else { return nil }
        return (level, index, width)
    }

    /// The path of a bundle of entries: the preimages of the leaf hashes of the tile at level 0 that has the same index.
    static func entries(index: UInt64, width: Int) -> [String] {
        ["tile", "entries"] + place(index, width: width)
    }

    /// The full tile's name in its folder, and that of the folder of its partial ones: `067` and `067.p`, in `x001/x234`.
    static func partials(level: String, index: UInt64) -> (folder: [String], name: String) {
        let path = ["tile", level] + number(index)
        return (Array(path.dropLast()), (path.last ?? "") + ".p")
    }

    private static func place(_ index: UInt64, width: Int) -> [String] {
        var path = number(index)
        if width < Int(Self.width), let name = path.popLast() { path += [name + ".p", String(width)] }
        return path
    }

    /// An index in groups of three digits, all but the last with an `x` before them: 1234067 is `x001/x234/067`.
    private static func number(_ index: UInt64) -> [String] {
        var path = [group(index % 1000)]
        var rest = index / 1000
        while rest > 0 {
            path.insert("x" + group(rest % 1000), at: 0)
            rest /= 1000
        }
        return path
    }

    private static func group(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 3 - digits.utf8.count) + digits
    }
}
