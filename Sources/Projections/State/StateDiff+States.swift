import EventLog

extension StateDiff {
    /// The differences between two states, of one log or of two. Equals `differences` of their documents.
    ///
    /// Messages are paired, and those looked at closer whose cells do not show at once that the rows agree; of all other rows the
    /// digests' leaves show which differ. Cost: O(messages), O(other rows) to hash, O(n log n) to order the messages of a
    /// channel, O(differing rows) to compare; a byte for each message and 64 for each other row of a source while it is
    /// compared.
    public static func differences(_ a: LogState, _ b: LogState) -> [StateDifference] {
        let touched = touchedRows(a, b) { _, _ in true }
        return differences((a, touched.0), (b, touched.1), isOneFold: false)
    }

    /// How many things of each kind two states show otherwise; a thing counts once, whatever differs in it. Equals the count of the
    /// things in `differences`. Costs as that does, but rows other than messages and channels are not made.
    package static func counts(_ a: LogState, _ b: LogState) -> [EntityReference.Kind: Int] {
        var counts: [EntityReference.Kind: Int] = [:]
        let touched = touchedRows(a, b) { section, isFirst in
            // A channel also differs by the order of its messages, so it is counted with these.
            guard section != .channels, let kind = EntityReference.Kind(section: section) else { return true }
            // Rows agree exactly if their digests do (I12).
            if isFirst { counts[kind, default: 0] += 1 }
            return false
        }
        let shown = Set(differences((a, touched.0), (b, touched.1), isOneFold: false).map(\.entity))
        for thing in shown { counts[thing.kind, default: 0] += 1 }
        return counts
    }

    /// The rows that may differ between two states.
    ///
    /// - Parameter isWanted: Whether a row that is no message, and whose digest differs, is to be among them. Given its section, and
    ///   whether this is the first of the two states that has it.
    private static func touchedRows(
        _ a: LogState,
        _ b: LogState,
        where isWanted: (Section, _ isFirst: Bool) -> Bool
    ) -> (TouchedRows, TouchedRows) {
        var touched = (TouchedRows(), TouchedRows())
        for name in Set((a.sources + b.sources).map(\.name)) {
            // A source that one state lacks differs in all its rows.
            let (left, right) = (a.state(of: name), b.state(of: name))
            let keys = differingKeys(left, right)
            if !keys.isEmpty {
                var met: Set<Hash256> = []
                a.addRows(of: name, under: keys, to: &touched.0) { section, key in
                    met.insert(key)
                    return isWanted(section, true)
                }
                b.addRows(of: name, under: keys, to: &touched.1) { isWanted($0, !met.contains($1)) }
            }
            addMessages(of: name, (a, left), (b, right), to: &touched)
            if let left, let right { addOrders((a, left), (b, right), to: &touched) }
        }
        return touched
    }

    /// The differences of the touched rows of two states. Both must name the same rows.
    ///
    /// - Parameter isOneFold: Whether one state was folded on from the other.
    static func differences(
        _ a: (state: LogState, touched: TouchedRows),
        _ b: (state: LogState, touched: TouchedRows),
        isOneFold: Bool
    ) -> [StateDifference] {
        differences(a.touched.document(of: a.state), b.touched.document(of: b.state)) {
            if a.touched.hasNoMessages, b.touched.hasNoMessages { return [] }
            return MessageDifferences((a.state, a.touched), (b.state, b.touched), isOneFold: isOneFold).all()
        }
    }

    /// Adds the messages of a source whose rows may differ; all of them if one state lacks the source.
    private static func addMessages(
        of name: SourceName,
        _ a: (state: LogState, source: SourceState?),
        _ b: (state: LogState, source: SourceState?),
        to touched: inout (TouchedRows, TouchedRows)
    ) {
        let indexes = (a.state.indexes[name], b.state.indexes[name])
        if let left = a.source, let right = b.source, let first = indexes.0, let second = indexes.1 {
            MessageTwins(left, right).forEachDiffering { place, twin in
                if let place { touched.0.add(messageAt: place, of: a.state, source: first) }
                if let twin { touched.1.add(messageAt: twin, of: b.state, source: second) }
            }
            return
        }
        for place in 0..<(a.source?.parts.messages.store.count ?? 0) {
            if let first = indexes.0 { touched.0.add(messageAt: place, of: a.state, source: first) }
        }
        for place in 0..<(b.source?.parts.messages.store.count ?? 0) {
            if let second = indexes.1 { touched.1.add(messageAt: place, of: b.state, source: second) }
        }
    }

    /// The digest keys of the rows but messages that differ, or that one of two states of a source lacks. Merges two sorted
    /// lists; both sources have one name, so equal keys mean the same row.
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
    private static func addOrders(
        _ a: (state: LogState, source: SourceState),
        _ b: (state: LogState, source: SourceState),
        to touched: inout (TouchedRows, TouchedRows)
    ) {
        guard let first = a.state.indexes[a.source.name], let second = b.state.indexes[b.source.name] else { return }
        let names = (a.source.context.names, b.source.context.names)
        let places = (
            GroupedPlaces(a.source.parts.messages, names.0), GroupedPlaces(b.source.parts.messages, names.1)
        )
        // Not through the tuples below: the compiler would copy a source's whole state for each message.
        let cells = (a.source.parts.messages.store.cells, b.source.parts.messages.store.cells)
        let others = Dictionary(uniqueKeysWithValues: places.1.channels.map { ($0.id, $0) })
        for channel in places.0.channels {
            guard let other = names.1.find(names.0.text(channel.id)).flatMap({ others[$0] }) else { continue }
            let (left, right) = (
                places.0.places(in: .messages, of: channel), places.1.places(in: .messages, of: other)
            )
            let isSame =
                left.count == right.count
                && zip(left, right).allSatisfy { left, right in
                    let ids = (cells.0[left].id, cells.1[right].id)
                    if let number = ids.0.number { return number == ids.1.number }
                    return names.0.text(ids.0).utf8.elementsEqual(names.1.text(ids.1).utf8)
                }
            if isSame { continue }
            touched.0.add(orderOf: channel.id, of: a.state, source: first)
            touched.1.add(orderOf: other.id, of: b.state, source: second)
        }
    }

    /// The leaves of a source's rows but messages, in the order of their keys.
    private static func leaves(of source: SourceState?) -> [StateDigest.Leaf] {
        var leaves = source?.otherLeaves() ?? []
        leaves.sort { $0.key.words < $1.key.words }
        return leaves
    }
}

extension LogState {
    /// Adds the rows of a source with these digest keys, which are none of messages, and that `isWanted` accepts. Hashes the key of
    /// each row again.
    fileprivate func addRows(
        of name: SourceName,
        under keys: Set<Hash256>,
        to rows: inout TouchedRows,
        where isWanted: (Section, Hash256) -> Bool
    ) {
        guard let index = indexes[name] else { return }
        let source = sources[index]
        var writer = CanonicalWriter()
        for section in Section.allCases where section.isInDigest && !section.isOfMessages {
            for key in source.fold(for: section)?.keys(in: section, names: source.context.names) ?? [] {
                let hash = source.digestKey(of: key, &writer)
                if keys.contains(hash), isWanted(section, hash) { rows.add(key, of: self, source: index) }
            }
        }
    }
}
