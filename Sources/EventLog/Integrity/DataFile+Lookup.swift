extension DataFile {
    /// The generation that took the place of the one in this file, read without LMDB; `nil` if it is the newest. Believes
    /// nothing but what the pages on the way say: all of them must have been checked.
    func successor() throws -> UInt32? {
        guard let meta = metaPages().compactMap({ $0 }).max(by: { $0.transaction < $1.transaction }) else { return nil }
        let key = Array(MetaName.successor.utf8)
        let stored = try lookUp(Array("meta".utf8), in: meta.mainTree, meta)?.table.flatMap { tree in
            try lookUp(key, in: tree, meta)?.value
        }
        return key.withUnsafeBytes { key in
            stored?.withUnsafeBytes { stored in
                Checksum.opened(stored, table: "meta", key: key).flatMap { $0.bigEndian(as: UInt32.self) }
            }
        }
    }

    /// The entry under a key; `nil` if the tree has none. A value with pages of its own is empty here.
    private func lookUp(
        _ key: [UInt8],
        in tree: TreeHeader,
        _ meta: MetaPage
    ) throws -> (value: [UInt8], table: TreeHeader?)? {
        let reader = PageReader(self, pageBytes: meta.pageSize)
        var number = tree.root
        // The depth of a checked tree is at most 64.
        for _ in 0..<64 {
            guard number <= meta.lastPage, let bytes = reader.page(number) else { return nil }
            let page = DataPage(bytes: bytes, number: number)
            let nodes = try page.nodes()
            if page.isLeaf {
                return nodes.first { $0.key.elementsEqual(key) }.map { (Array($0.value), $0.table) }
            }
            // The first key of a branch page has no meaning.
            let next = nodes.dropFirst().last { !key.lexicographicallyPrecedes($0.key) } ?? nodes.first
            guard let next else { return nil }
            number = next.child
        }
        return nil
    }
}
