import JSON

/// A root that is kept outside the log: the hash of its first `size` events.
public struct KeptRoot: Hashable, Sendable {
    /// How many events the root covers.
    public let size: UInt64
    /// The root of the hash tree over them.
    public let root: Hash256

    /// Makes a kept root.
    public init(size: UInt64, root: Hash256) {
        self.size = size
        self.root = root
    }

    /// Reads what `json` wrote.
    ///
    /// - Throws: `ExportFault` if it is not JSON, or has no size or root.
    public init(_ json: [UInt8]) throws {
        self = try ExportReader.read(json) { line in
            guard let size = line[.treeSize].flatMap({ UInt64($0.string) }),
                let root = line[.root].flatMap({ Hash256(spelled: $0.string) })
            else { throw ExportFault("it needs \"treeSize\" and \"root\", as root --json writes them") }
            return KeptRoot(size: size, root: root)
        }
    }

    /// The root as a JSON text (`docs/cli-json.md`), without LF.
    public var json: [UInt8] {
        var json = JSONWriter()
        json.begin("{")
        json.member("treeSize", String(size))
        json.member("root", root)
        json.end("}")
        return json.bytes
    }
}
