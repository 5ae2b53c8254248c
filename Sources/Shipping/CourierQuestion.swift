import EventLog
import JSON

/// What a receiver asks a sender.
enum CourierQuestion {
    /// Whether the sender's log goes on from a log of a size and root; it then publishes what the stream lacks behind it.
    case tail(size: UInt64, root: Hash256, untrue: [String])
    /// A file of the tree that the sender's log would be: the checkpoint, a manifest, or a tile of hashes.
    case file([String])

    /// The most batches that a question complains of, and the longest question.
    static let untrueMax = 64
    private static let bytesMax = 16 << 10

    var bytes: [UInt8] {
        let members: JSONObject =
            switch self {
            case .tail(let size, let root, let untrue):
                [
                    "ask": .string("tail"),
                    "size": .string(String(size)),
                    "root": .string(Base64.encode(root.bytes)),
                    "untrue": untrue.isEmpty ? nil : .array(untrue.map { .string($0) }),
                ]
            case .file(let path): ["ask": .string("file"), "path": .array(path.map { .string($0) })]
            }
        return TreeManifest.line(members)
    }

    /// Reads a question, which may come from anybody; `nil` for what is none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax, let value = JSONValue(received: bytes) else { return nil }
        switch value["ask"]?.string {
        case "tail":
            guard let size = try? TreeManifest.number(value, "size"),
                let root = try? TreeManifest.hash(value["root"], "root")
            else { return nil }
            let untrue = (value["untrue"]?.array ?? []).compactMap(\.string).prefix(Self.untrueMax)
            self = .tail(size: size, root: root, untrue: Array(untrue))
        case "file": self = .file((value["path"]?.array ?? []).compactMap(\.string))
        default: return nil
        }
    }
}

/// What a sender answers to a receiver that goes on.
struct CourierAnswer {
    /// The sender's log.
    let size: UInt64
    let root: Hash256
    /// Whether it begins with the receiver's; true where that one is longer, which then compares the roots itself.
    let agrees: Bool

    var bytes: [UInt8] {
        TreeManifest.line([
            "size": .string(String(size)), "root": .string(Base64.encode(root.bytes)), "agrees": .bool(agrees),
        ])
    }

    init(size: UInt64, root: Hash256, agrees: Bool) {
        (self.size, self.root, self.agrees) = (size, root, agrees)
    }

    init?(_ bytes: [UInt8]) {
        guard let value = JSONValue(received: bytes), let size = try? TreeManifest.number(value, "size"),
            let root = try? TreeManifest.hash(value["root"], "root"), let agrees = value["agrees"]?.bool
        else { return nil }
        self.init(size: size, root: root, agrees: agrees)
    }
}

/// The tree that a sender's log would be, read by questions: without its bundles, for those come through the stream.
struct AskedTree: TreeSource {
    let courier: any Courier
    let limit: Duration

    var name: String { courier.name }

    func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]? {
        guard let bytes = try courier.ask(CourierQuestion.file(path).bytes, within: limit), !bytes.isEmpty else {
            return nil
        }
        guard bytes.count <= bytesMax else { throw TreeFault.tooLong("\(name)/\(path.last ?? "")", UInt64(bytesMax)) }
        return bytes
    }

    func file(at path: [String], bytesMax: UInt64) throws -> (any TreeFile)? {
        try bytes(at: path, bytesMax: Int(clamping: bytesMax)).map { MemoryFile($0) }
    }
}

/// The files of the tree that a log would be, made when they are asked for.
struct AnsweredTree {
    let origin: String
    let key: SigningKey?

    /// A file's bytes; none if there is no such file, or if it has events.
    func bytes(at path: [String], _ session: borrowing ReadSession) throws -> [UInt8] {
        let head = session.head.rawValue
        if path == [TreeState.checkpointName] {
            let checkpoint = SignedCheckpoint(
                try Checkpoint(origin: origin, size: head, root: session.root(size: head))
            )
            return Array(try (key.map { try checkpoint.signed(by: $0) } ?? checkpoint).note.utf8)
        }
        if path.count == 2, path[0] == TreeManifest.folder, let size = UInt64(path[1]), size <= head {
            return try manifest(size: size, session).json
        }
        guard let (level, index, width) = TilePath.parse(path) else { return [] }
        let first = index * TilePath.width
        let end = first + UInt64(width)
        guard end <= head >> UInt64(8 * level) else { return [] }
        return try TileWriter.tile(level, first..<end, session)
    }

    private func manifest(size: UInt64, _ session: borrowing ReadSession) throws -> TreeManifest {
        let bundle = TreeManifest.Bundle(
            first: 1,
            last: size,
            file: TreeManifest.File(name: "stream", bytes: 0),
            hashes: try session.subtreeRoots(of: 0..<size)
        )
        return TreeManifest(
            identity: try session.identity(),
            size: size,
            root: try session.root(size: size),
            decidedAt: session.decidedAt.rawValue,
            acts: try session.acts().map(\.rawValue),
            hasEntries: false,
            remains: nil,
            bundles: size > 0 ? [bundle] : [],
            bookmarks: [:]
        )
    }
}
