import EventLog
import JSON

/// What a tree holds at one size: which file has which events. Not signed: what it says is checked against the root of the
/// checkpoint, and the files against what it says.
struct TreeManifest: Hashable, Sendable {
    /// A file in the folder of bundles.
    struct File: Hashable, Sendable {
        /// Its name, which has the first half of its SHA-256, so that a file never changes.
        let name: String
        /// Its size.
        let bytes: UInt64
    }

    /// A file with the events of a range.
    struct Bundle: Hashable, Sendable {
        let first: UInt64
        let last: UInt64
        let file: File
        /// The roots of the subtrees that the range consists of (`SubtreeCover`).
        let hashes: [Hash256]

        var count: UInt64 { last - first + 1 }
        /// Its leaves, counted from 0.
        var leaves: Range<UInt64> { first - 1..<last }
    }

    var identity: [UInt8]
    var size: UInt64
    var root: Hash256
    /// The head when the last compaction was decided, or zero.
    var decidedAt: UInt64
    /// The sequence of each rewrite's act.
    var acts: [UInt64]
    /// Whether the tree has entries, too.
    var hasEntries: Bool
    /// The file with what rewrites left beside the events; `nil` without any.
    var remains: File?
    /// The bundles, in order; together they have every event.
    var bundles: [Bundle]
    /// What recorders stored to resume from, by source.
    var bookmarks: [String: [UInt8]]
    /// The minimum index of tlog-tiles: the entries from this index on are whole, those before it may be gone. Nothing proves it.
    var minimumIndex: UInt64 = 0

    static let format = "eventlog.tree/1"
    static let folder = "manifest"
    static let bundleFolder = "bundle"
    /// The longest manifest that is read: that of some fifty thousand bundles.
    static let bytesMax = 64 << 20

    /// The names that a tree has in its folder.
    static let names: Set<String> = [
        "checkpoint", "checkpoint.previous", "tile", folder, bundleFolder, ".lock", ".draft",
    ]

    /// Whether a file in the folder of bundles has a name as this program gives it. Others are left alone.
    static func isBundleName(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "remains" || UInt64(parts[0]) != nil, UInt64(parts[1]) != nil else {
            return name == ".draft"
        }
        return parts[2].hasSuffix(".zst") && parts[2].utf8.count == 36
    }

    static func path(size: UInt64) -> [String] { [folder, String(size)] }

    /// The files that it names, with their folder.
    var files: [File] { (remains.map { [$0] } ?? []) + bundles.map(\.file) }
}

// MARK: - JSON

extension TreeManifest {
    /// The file's bytes.
    var json: [UInt8] {
        let members: JSONObject = [
            "format": .string(Self.format),
            "identity": .string(Base64.encode(identity)),
            "size": .string(String(size)),
            "root": .string(Base64.encode(root.bytes)),
            "decidedAt": decidedAt > 0 ? .string(String(decidedAt)) : nil,
            "acts": acts.isEmpty ? nil : .array(acts.map { .string(String($0)) }),
            "entries": hasEntries ? .bool(true) : nil,
            "remains": remains.map { .object(Self.members(of: $0)) },
            "bundles": .array(bundles.map { .object(Self.members(of: $0)) }),
            "minimumIndex": minimumIndex > 0 ? .string(String(minimumIndex)) : nil,
            "bookmarks": bookmarks.isEmpty ? nil : .object(Self.members(of: bookmarks)),
        ]
        return Self.line(members)
    }

    /// An object as a line, with its LF.
    static func line(_ members: JSONObject) -> [UInt8] {
        var json = JSONWriter()
        json.value(.object(members))
        json.endLine()
        return json.bytes
    }

    private static func members(of file: File) -> JSONObject {
        ["name": .string(file.name), "bytes": .string(String(file.bytes))]
    }

    private static func members(of bundle: Bundle) -> JSONObject {
        var members: JSONObject = ["from": .string(String(bundle.first)), "to": .string(String(bundle.last))]
        for member in Self.members(of: bundle.file).members { members[member.name] = member.value }
        members["hashes"] = .array(bundle.hashes.map { .string(Base64.encode($0.bytes)) })
        return members
    }

    private static func members(of bookmarks: [String: [UInt8]]) -> JSONObject {
        var members = JSONObject()
        for (source, bytes) in bookmarks.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            members[source] = .string(Base64.encode(bytes))
        }
        return members
    }

    /// Reads a manifest, and checks it as far as it can be without its files: its bundles follow one another up to its size, and
    /// their hashes give its root.
    ///
    /// - Throws: `ExportFault`.
    init(_ bytes: [UInt8]) throws {
        guard let value = JSONValue(received: bytes) else { throw ExportFault("it is no JSON") }
        guard value["format"]?.string == Self.format else {
            throw ExportFault("its format is not \(Self.format)")
        }
        identity = try Self.bytes(value, "identity", count: 16)
        size = try Self.number(value, "size")
        root = try Self.hash(value["root"], "root")
        decidedAt = value["decidedAt"] == nil ? 0 : try Self.number(value, "decidedAt")
        acts = try (value["acts"]?.array ?? []).map { try Self.number(of: $0, "acts") }
        hasEntries = value["entries"]?.bool ?? false
        remains = try value["remains"].map { try Self.file($0) }
        bundles = try (value["bundles"]?.array ?? []).map { try Self.bundle($0) }
        minimumIndex = value["minimumIndex"] == nil ? 0 : try Self.number(value, "minimumIndex")
        bookmarks = [:]
        for member in value["bookmarks"]?.object?.members ?? [] {
            bookmarks[member.name] = member.value.string.flatMap { Base64.decode($0) }
        }
        try check()
    }

    /// Checks that its bundles follow one another up to its size, and that their hashes give its root.
    ///
    /// - Throws: `ExportFault`.
    func check() throws {
        var frontier = MerkleFrontier()
        var next: UInt64 = 1
        for bundle in bundles {
            guard bundle.first == next, bundle.last >= next, bundle.last <= size else {
                throw ExportFault("its bundles do not follow one another")
            }
            let cover = Array(SubtreeCover(of: bundle.leaves))
            guard cover.count == bundle.hashes.count else {
                throw ExportFault("the hashes of the bundle from \(bundle.first) on are not those of its range")
            }
            for (subtree, hash) in zip(cover, bundle.hashes) { frontier.append(hash, level: subtree.level) }
            next = bundle.last + 1
        }
        guard next == size + 1, frontier.root == root else {
            throw ExportFault("the hashes of its bundles do not give its root")
        }
    }

    private static func bundle(_ value: JSONValue) throws -> Bundle {
        let (first, last) = (try number(value, "from"), try number(value, "to"))
        guard first > 0, last < Int64.max else { throw ExportFault("a bundle begins or ends nowhere") }
        let hashes = try (value["hashes"]?.array ?? []).map { try hash($0, "hashes") }
        return Bundle(first: first, last: last, file: try file(value), hashes: hashes)
    }

    /// A name leads nowhere but into the folder.
    private static func file(_ value: JSONValue) throws -> File {
        guard let name = value["name"]?.string, !name.isEmpty, name.utf8.count <= 255,
            name.utf8.first != UInt8(ascii: "."),
            name.utf8.allSatisfy({ isPlain($0) })
        else {
            throw ExportFault("it names a file by letters that no file of a tree has")
        }
        return File(name: name, bytes: try number(value, "bytes"))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    static func number(_ value: JSONValue, _ name: String) throws -> UInt64 {
        guard let member = value[name] else { throw ExportFault("\"\(name)\" is missing") }
        return try number(of: member, name)
    }

    static func number(of value: JSONValue, _ name: String) throws -> UInt64 {
        guard let text = value.string, let number = UInt64(text), String(number) == text, number <= Int64.max else {
            throw ExportFault("\"\(name)\" is no number")
        }
        return number
    }

    static func bytes(_ value: JSONValue, _ name: String, count: Int) throws -> [UInt8] {
        guard let bytes = value[name]?.string.flatMap({ Base64.decode($0) }), bytes.count == count else {
            throw ExportFault("\"\(name)\" has not \(count) bytes")
        }
        return bytes
    }

    static func hash(_ value: JSONValue?, _ name: String) throws -> Hash256 {
        guard let hash = value?.string.flatMap({ Hash256(spelled: $0) }) else {
            throw ExportFault("\"\(name)\" has what is no SHA-256 hash")
        }
        return hash
    }
}
