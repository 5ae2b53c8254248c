public import EventLog
import JSON

/// Trees side by side in one folder, and the file `catalog.json` there that lists them for a web server's readers, who cannot list a folder.
///
/// Nothing proves a catalogue: it says where to look. Each tree has its own checkpoint.
public enum TreeCatalog {
    /// What a catalogue says of one tree.
    public struct Entry: Hashable, Sendable {
        /// The name of its folder: `isName`.
        public let name: String
        /// What its checkpoint said.
        public let summary: TreeSummary?
        /// When its checkpoint was written; `nil` if unknown.
        public let seen: Timestamp?

        /// An entry.
        public init(name: String, summary: TreeSummary?, seen: Timestamp?) {
            (self.name, self.summary, self.seen) = (name, summary, seen)
        }
    }

    /// The file's name.
    public static let fileName = "catalog.json"
    /// The most trees that a catalogue may name.
    public static let treesMax = 10_000
    private static let format = "eventlog.catalog/1"
    private static let bytesMax = 8 << 20
    private static let nameBytesMax = 100

    /// Whether a text may be the name of a tree: 1 to 100 letters and digits of ASCII, `.`, `_` and `-`, the first of them no `.` and no `-`. Such
    /// a name leads nowhere but into the folder, is no option, and needs no escape in a URL.
    public static func isName(_ text: String) -> Bool {
        guard (1...nameBytesMax).contains(text.utf8.count), let first = text.utf8.first else { return false }
        return first != UInt8(ascii: ".") && first != UInt8(ascii: "-") && text != fileName
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The names of the folders in a folder that have a checkpoint, by their bytes; links are not followed. Not all of them are such as
    /// `isName` wants.
    ///
    /// - Throws: `EventLogError`: `io` if the folder cannot be read, `invalidArgument` if it has more than `treesMax`.
    public static func names(inFolderAt path: String) throws -> [String] {
        let root = try Folder(at: path)
        let names = try root.names().filter { name in
            guard !name.hasPrefix("."), try root.kind(of: name) == .folder, let tree = try root.folder(name) else {
                return false
            }
            return try tree.kind(of: TreeState.checkpointName) == .file
        }
        guard names.count <= treesMax else {
            throw fault(path, "it has \(names.count) trees, and \(treesMax) is the most")
        }
        return names
    }

    /// The entries of the file `catalog.json`, in its order.
    ///
    /// - Throws: `EventLogError`: `notFound` if there is none, `invalidArgument` for one that is none, has more than `treesMax` entries, or a
    ///   name twice or that is no name.
    public static func entries(of source: any TreeSource) throws -> [Entry] {
        let file = "\(source.name)/\(fileName)"
        guard let bytes = try source.bytes(at: [fileName], bytesMax: bytesMax) else {
            throw EventLogError(
                .notFound,
                operation: "read catalogue",
                object: source.name,
                reason: "there is no \(fileName)",
                advice: "logtool catalog FOLDER --write makes one where the trees are"
            )
        }
        guard let value = JSONValue(received: bytes), value["format"]?.string == format,
            let trees = value["trees"]?.array
        else { throw fault(file, "it is no \(format)") }
        guard trees.count <= treesMax else {
            throw fault(file, "it has \(trees.count) trees, and \(treesMax) is the most")
        }
        var names: Set<String> = []
        return try trees.map { tree in
            guard let name = tree["name"]?.string, isName(name) else {
                throw fault(file, "a tree has a name that no folder of a catalogue has")
            }
            guard names.insert(name).inserted else { throw fault(file, "it names \"\(name)\" twice") }
            return Entry(name: name, summary: nil, seen: tree["seen"]?.string.flatMap { Timestamp(rfc3339: $0) })
        }
    }

    /// Writes the file `catalog.json` of some trees into a folder, in place of the one that is there, whole or not at all.
    ///
    /// - Throws: `EventLogError` with code `io`; `damaged` if something else has the file's name.
    public static func write(_ entries: [Entry], toFolderAt path: String) throws {
        let trees = entries.map { entry in
            var members: JSONObject = ["name": .string(entry.name)]
            for member in entry.summary?.members.members ?? [] { members[member.name] = member.value }
            members["seen"] = entry.seen.map { .string($0.description) }
            return JSONValue.object(members)
        }
        let line = TreeManifest.line(["format": .string(format), "trees": .array(trees)])
        try Partial.write(line, toFileAt: Folder(at: path).path(of: fileName))
    }

    private static func fault(_ file: String, _ reason: String) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "read catalogue",
            object: file,
            reason: reason,
            advice: "nothing of it was believed"
        )
    }
}

/// What a tree's checkpoint and manifest say of its log.
public struct TreeSummary: Hashable, Sendable {
    /// The checkpoint.
    public let checkpoint: SignedCheckpoint
    /// The sixteen bytes that identify the log. Nothing proves them.
    public let identity: [UInt8]
    /// The sources whose recorders left a note to resume from, by name. Nothing proves them.
    public let sources: [String]

    /// Reads a tree's newest checkpoint and its manifest.
    ///
    /// - Throws: as `TreeState.init`.
    public init(of source: any TreeSource, verifiers: [VerifierKey] = []) throws {
        let state = try TreeState(of: source, verifiers: verifiers)
        (checkpoint, identity) = (state.checkpoint, state.manifest.identity)
        sources = state.manifest.bookmarks.keys.filter { $0 != SourceName.logtool.rawValue }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// As a catalogue lists it.
    fileprivate var members: JSONObject {
        [
            "origin": .string(checkpoint.checkpoint.origin),
            "identity": .string(Base64.encode(identity)),
            "size": .string(String(checkpoint.checkpoint.size)),
            "root": .string(Base64.encode(checkpoint.checkpoint.root.bytes)),
            "sources": sources.isEmpty ? nil : .array(sources.map { .string($0) }),
        ]
    }
}

/// One of several trees side by side.
public struct NeighbourTree: TreeSource {
    private let base: any TreeSource
    private let folder: String

    /// - Parameters:
    ///   - base: what has the trees' folders.
    ///   - name: the tree's folder: `TreeCatalog.isName`.
    public init(_ name: String, of base: any TreeSource) { (self.base, folder) = (base, name) }

    /// The path or URL of the tree.
    public var name: String { "\(base.name)/\(folder)" }

    /// The bytes of a file; `nil` if there is none.
    public func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]? {
        try base.bytes(at: [folder] + path, bytesMax: bytesMax)
    }

    /// A file; `nil` if there is none.
    public func file(at path: [String], bytesMax: UInt64) throws -> (any TreeFile)? {
        try base.file(at: [folder] + path, bytesMax: bytesMax)
    }
}
