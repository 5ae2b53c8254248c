import EventLog
import JSON

/// The first line of a bundle: its range, and the roots of the blocks that it consists of, by which a reader checks one block after
/// another. The other lines are those of an export (`ExportWriter`).
struct BundleHeader {
    let first: UInt64
    let last: UInt64
    /// The greatest height of a block.
    let level: Int
    let hashes: [Hash256]

    static let format = "eventlog.bundle/1"
    /// The height of a block of small events. Their pieces are in memory together.
    static let levelMax = 12

    /// The blocks, from left to right.
    var blocks: SubtreeCover { SubtreeCover(of: first - 1..<last, levelMax: level) }

    /// The line, with its LF.
    var line: [UInt8] {
        let members: JSONObject = [
            "format": .string(Self.format),
            "from": .string(String(first)),
            "to": .string(String(last)),
            "level": .int(level),
            "hashes": .array(hashes.map { .string(Base64.encode($0.bytes)) }),
        ]
        return TreeManifest.line(members)
    }

    init(first: UInt64, last: UInt64, level: Int, hashes: [Hash256]) {
        (self.first, self.last, self.level, self.hashes) = (first, last, level, hashes)
    }

    /// Reads the line, and checks that its hashes give those that the manifest has.
    ///
    /// - Throws: `ExportFault`.
    init(_ line: [UInt8], of bundle: TreeManifest.Bundle) throws {
        guard let value = JSONValue(received: line), value["format"]?.string == Self.format else {
            throw ExportFault("its format is not \(Self.format)")
        }
        guard value["from"]?.string == String(bundle.first), value["to"]?.string == String(bundle.last),
            let level = value["level"]?.number?.int64, (0...Int64(Self.levelMax)).contains(level)
        else {
            throw ExportFault("it is not the bundle of the events \(bundle.first) to \(bundle.last)")
        }
        let hashes = try (value["hashes"]?.array ?? []).map { value in
            guard let hash = value.string.flatMap({ Hash256(spelled: $0) }) else {
                throw ExportFault("its hashes have what is no SHA-256 hash")
            }
            return hash
        }
        self.init(first: bundle.first, last: bundle.last, level: Int(level), hashes: hashes)
        try check(against: bundle)
    }

    private func check(against bundle: TreeManifest.Bundle) throws {
        var rest = hashes[...]
        let blocks = blocks.makeIterator()
        for (subtree, hash) in zip(SubtreeCover(of: bundle.leaves), bundle.hashes) {
            var frontier = MerkleFrontier()
            var count: UInt64 = 0
            while count < subtree.leaves.upperBound - subtree.leaves.lowerBound {
                guard let block = blocks.next(), let hash = rest.popFirst() else {
                    throw ExportFault("it has too few hashes")
                }
                frontier.append(hash, level: block.level)
                count += 1 << UInt64(block.level)
            }
            guard frontier.root == hash else { throw ExportFault("its hashes are not those of the tree") }
        }
        guard rest.isEmpty else { throw ExportFault("it has too many hashes") }
    }
}
