import EventLog

extension StateDiff {
    /// The differences between two states, of one log or of two. Equals `differences` of their documents.
    ///
    /// The digests' leaves show which rows differ, and only these rows are made. Cost: O(rows) to hash, O(n log n) to
    /// order the messages of a channel, O(differing rows) to compare; 64 bytes for each row of a source while it is
    /// compared.
    public static func differences(_ a: LogState, _ b: LogState) -> [StateDifference] {
        var touched = (TouchedRows(), TouchedRows())
        for name in Set((a.sources + b.sources).map(\.name)) {
            // A source that one state lacks differs in all its rows.
            let (left, right) = (a.state(of: name), b.state(of: name))
            let keys = differingKeys(left, right)
            if !keys.isEmpty {
                left?.addRows(to: &touched.0, under: keys)
                right?.addRows(to: &touched.1, under: keys)
            }
            if let left, let right { addOrders(left, right, to: &touched) }
        }
        return differences(touched.0.part(of: a), touched.1.part(of: b))
    }

    /// The digest keys of the rows that differ, or that one of two states of a source lacks. Merges two sorted lists;
    /// both sources have one name, so equal keys mean the same row.
    private static func differingKeys(_ a: SourceState?, _ b: SourceState?) -> Set<Hash256> {
        let (left, right) = (leaves(of: a), leaves(of: b))
        var keys: Set<Hash256> = []
        var (i, j) = (0, 0)
        while i < left.count || j < right.count {
            if j == right.count || i < left.count && left[i].key.words < right[j].key.words {
                keys.insert(left[i].key)
                i += 1
            } else if i == left.count || right[j].key.words < left[i].key.words {
                keys.insert(right[j].key)
                j += 1
            } else {
                if left[i].hash != right[j].hash { keys.insert(left[i].key) }
                (i, j) = (i + 1, j + 1)
            }
        }
        return keys
    }

    /// Adds the channels whose messages have another order, which the rows alone may not show. Compares ids as texts:
    /// the states have different handles.
    private static func addOrders(_ a: SourceState, _ b: SourceState, to touched: inout (TouchedRows, TouchedRows)) {
        for channel in a.parts.messages.channels(a.context.names) {
            guard let other = b.context.names.find(a.context.names.text(channel)) else { continue }
            let (left, right) = (a.liveMessages(in: channel), b.liveMessages(in: other))
            let isSame =
                left.count == right.count
                && zip(left, right).allSatisfy { left, right in
                    if let number = left.number { return number == right.number }
                    return a.context.names.text(left).utf8.elementsEqual(b.context.names.text(right).utf8)
                }
            if isSame { continue }
            touched.0.add(orderOf: channel, of: a.name)
            touched.1.add(orderOf: other, of: b.name)
        }
    }

    /// The leaves of a source's rows in the order of their keys.
    private static func leaves(of source: SourceState?) -> [StateDigest.Leaf] {
        guard let source else { return [] }
        var leaves: [StateDigest.Leaf] = []
        for slice in source.digestSlices() { leaves += slice.leaves }
        leaves.sort { $0.key.words < $1.key.words }
        return leaves
    }
}

extension SourceState {
    /// Adds the rows with these digest keys. Hashes the key of each row of the source again.
    fileprivate func addRows(to rows: inout TouchedRows, under keys: Set<Hash256>) {
        var writer = CanonicalWriter()
        for section in Section.allCases where section.isInDigest {
            for key in fold(for: section)?.keys(in: section, names: context.names) ?? []
            where keys.contains(digestKey(of: key, &writer)) {
                rows.add(key, of: name)
            }
        }
    }

    /// The ids of a channel's live messages in the remote's order.
    fileprivate func liveMessages(in channel: EntityID) -> [EntityID] {
        parts.messages.livePlaces(in: channel, context.names).map { parts.messages.store.cells[$0].id }
    }
}
