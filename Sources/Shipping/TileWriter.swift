import EventLog

/// Writes the tiles of a log into a tree: those of the tree's hashes, and, if they are wanted, those of entries.
struct TileWriter {
    private let tree: TreeFolder

    init(_ tree: TreeFolder) {
        self.tree = tree
    }

    /// Writes the tiles that a tree of `size` leaves has and one of `before` leaves has not, and removes partial tiles whose full one
    /// there is now. Cost: the leaf hashes behind `before`, and a file for each 256 of them.
    func write(before: UInt64, size: UInt64, _ session: borrowing ReadSession) throws {
        for level in 0..<8 where size >> UInt64(8 * level) > 0 {
            let unit = UInt64(8 * level)
            try write(level, before >> unit..<size >> unit, session)
        }
    }

    /// Writes the tiles at a level that have some of a range of hashes, each of which covers 256^level leaves.
    private func write(_ level: Int, _ new: Range<UInt64>, _ session: borrowing ReadSession) throws {
        guard !new.isEmpty else { return }
        for index in new.lowerBound / TilePath.width...(new.upperBound - 1) / TilePath.width {
            let first = index * TilePath.width
            let end = min(first + TilePath.width, new.upperBound)
            let tile = try Self.tile(level, first..<end, session)
            let width = Int(end - first)
            try tree.write(tile, at: TilePath.hashes(level: level, index: index, width: width))
            if new.lowerBound > first { try removePartials(of: String(level), index: index, width: width) }
        }
    }

    /// The bytes of a tile: the hashes of a range at a level.
    static func tile(_ level: Int, _ range: Range<UInt64>, _ session: borrowing ReadSession) throws -> [UInt8] {
        var tile: [UInt8] = []
        tile.reserveCapacity(range.count * 32)
        if level == 0 {
            try session.forEachLeafHash(in: SequenceNumber(range.lowerBound + 1)...SequenceNumber(range.upperBound)) {
                $0.withBytes { tile.append(contentsOf: $0) }
            }
        } else {
            let unit = UInt64(8 * level)
            for place in range {
                let root = try session.root(ofLeaves: place << unit..<(place + 1) << unit)
                root.withBytes { tile.append(contentsOf: $0) }
            }
        }
        return tile
    }

    /// A partial tile has a name only until the full one has it.
    private func removePartials(of level: String, index: UInt64, width: Int) throws {
        guard width == Int(TilePath.width) else { return }
        let partials = TilePath.partials(level: level, index: index)
        try tree.removeFolder(at: partials.folder + [partials.name])
    }

    /// Writes the bundles of entries behind `before`: what the leaf hashes are of, each with its length before it. A bundle of which an
    /// event was dropped is not there, because a dropped event has nothing left but its hash.
    func writeEntries(before: UInt64, size: UInt64, _ session: borrowing ReadSession) throws {
        guard size > before else { return }
        for index in before / TilePath.width...(size - 1) / TilePath.width {
            let first = index * TilePath.width
            let end = min(first + TilePath.width, size)
            let width = Int(end - first)
            var (bundle, count): ([UInt8], Int) = ([], 0)
            try session.forEachEvent(in: SequenceNumber(first + 1)...SequenceNumber(end)) { event in
                let leaf = event.leaf
                bundle += [UInt8(truncatingIfNeeded: leaf.count >> 8), UInt8(truncatingIfNeeded: leaf.count)] + leaf
                count += 1
                return true
            }
            if count == width { try tree.write(bundle, at: TilePath.entries(index: index, width: width)) }
            if before > first { try removePartials(of: "entries", index: index, width: width) }
        }
    }
}
