import EventLog

/// The hashes of a tree, read from its tiles, each of them checked against the root of the checkpoint.
final class TreeTiles {
    private let source: any TreeSource
    private let size: UInt64
    /// The tiles at the right edge, from level 0 on: the hashes that no tile of a higher level covers.
    private let edge: [[Hash256]]

    /// Reads the tiles at the right edge, one for each level.
    ///
    /// - Throws: `EventLogError`: `notFound` if one is missing, `invalidArgument` if they do not give the root.
    init(_ source: any TreeSource, _ checkpoint: Checkpoint) throws {
        (self.source, size) = (source, checkpoint.size)
        var edge: [[Hash256]] = []
        var level = 0
        while level < 8, size >> UInt64(8 * level) > 0 {
            let count = size >> UInt64(8 * level)
            let width = Int(count % TilePath.width)
            edge.append(
                width == 0
                    ? [] : try Self.tile(source, level: level, index: count / TilePath.width, width: width)
            )
            level += 1
        }
        var frontier = MerkleFrontier()
        for (level, hashes) in edge.enumerated().reversed() {
            for hash in hashes { frontier.append(hash, level: 8 * level) }
        }
        guard frontier.root == checkpoint.root else {
            throw TreeFault.error(source.name, "its tiles do not give the root of the checkpoint")
        }
        self.edge = edge
    }

    private static func tile(_ source: any TreeSource, level: Int, index: UInt64, width: Int) throws -> [Hash256] {
        let full = TilePath.hashes(level: level, index: index, width: Int(TilePath.width))
        let partial = TilePath.hashes(level: level, index: index, width: width)
        // The full tile may have come, and the partial one gone, since the checkpoint was read.
        let most = Int(TilePath.width) * 32
        guard let bytes = try source.bytes(at: partial, bytesMax: most) ?? source.bytes(at: full, bytesMax: most) else {
            throw TreeFault.notWhole(source.name, partial)
        }
        guard bytes.count >= width * 32 else {
            throw TreeFault.error(source.name, "the tile \(partial.joined(separator: "/")) is too short")
        }
        return (0..<width).compactMap { Hash256(bytes[($0 * 32)..<($0 * 32 + 32)]) }
    }

    /// The first leaf, counted from 0, at which another tree differs, among those that both have; `nil` if there is none.
    ///
    /// Cost: a tile for each level, and those on the way to the leaf.
    ///
    /// - Parameters:
    ///   - count: how many leaves the other tree has.
    ///   - other: the root over an aligned subtree of its leaves.
    func firstDifference(count: UInt64, _ other: (Range<UInt64>) throws -> Hash256) throws -> UInt64? {
        for level in edge.indices.reversed() {
            let first = (size >> UInt64(8 * level)) / TilePath.width * TilePath.width
            if let found = try difference(edge[level], level, first, count, other) { return found }
        }
        return nil
    }

    /// The same among hashes of a level, of which the first has an index at that level.
    private func difference(
        _ hashes: [Hash256],
        _ level: Int,
        _ first: UInt64,
        _ count: UInt64,
        _ other: (Range<UInt64>) throws -> Hash256
    ) throws -> UInt64? {
        let unit = UInt64(8 * level)
        for (place, hash) in hashes.enumerated() {
            let index = first + UInt64(place)
            let leaves = index << unit..<(index + 1) << unit
            if leaves.lowerBound >= count { return nil }
            if leaves.upperBound <= count, try other(leaves) == hash { continue }
            // It differs, or the other tree ends within it, and then nothing behind it is to be compared.
            if level == 0 { return index }
            let below = try Self.tile(source, level: level - 1, index: index, width: Int(TilePath.width))
            var frontier = MerkleFrontier()
            for hash in below { frontier.append(hash) }
            guard frontier.root == hash else {
                let path = TilePath.hashes(level: level - 1, index: index, width: Int(TilePath.width))
                throw TreeFault.error(source.name, "the tile \(path.joined(separator: "/")) is not that of the tree")
            }
            return try difference(below, level - 1, index * TilePath.width, count, other)
        }
        return nil
    }
}
