import EventLog

extension Workspace {
    /// Hands out the rows that a selection may mean, in no particular order, until `body` returns false. Its filter is left to
    /// the caller.
    func forEachRow(in selection: ExpressionSelection, _ body: (JSONValue) -> Bool) {
        if selection.section == .issues { return forEachIssue(of: selection, body) }
        let wanted = selection.demanded("source")
        for source in sources where wanted == nil || wanted == source.name.rawValue {
            guard source.forEachRow(in: selection, asOf: clock, body) else { return }
        }
    }

    private func forEachIssue(of selection: ExpressionSelection, _ body: (JSONValue) -> Bool) {
        for row in rows(in: .issues, asOf: clock ?? Timestamp(seconds: 0)) {
            if let ids = selection.ids, ids.last != row["sequence"]?.string { continue }
            guard body(row) else { return }
        }
    }
}

extension SourceState {
    /// False where `body` wants no more.
    fileprivate func forEachRow(
        in selection: ExpressionSelection,
        asOf: Timestamp?,
        _ body: (JSONValue) -> Bool
    ) -> Bool {
        guard let fold = fold(for: selection.section) else { return true }
        let context = rowContext(asOf: asOf)
        for key in keys(of: selection, in: fold) {
            guard let row = fold.row(for: key, context: context) else { continue }
            guard body(withSource(row)) else { return false }
        }
        return true
    }

    private func keys(of selection: ExpressionSelection, in fold: any Fold) -> [EntityKey] {
        let section = selection.section
        if let ids = selection.ids { return keys(named: ids, in: section, fold) }
        // A channel's messages are found without looking at others.
        guard section == .messages || section == .deletedMessages, let channel = selection.demanded("channel") else {
            return fold.keys(in: section, names: context.names)
        }
        guard let channel = context.names.find(channel) else { return [] }
        return messages.keys(in: section, ofChannel: channel, names: context.names)
    }

    /// The keys that ids can mean: source first, parts left out from the left.
    private func keys(named ids: [String], in section: Section, _ fold: any Fold) -> [EntityKey] {
        let handles = ids.map { context.names.find($0) }
        switch handles.count {
        case 3 where ids[0] == name.rawValue:
            guard let first = handles[1], let second = handles[2] else { return [] }
            return [EntityKey(section, first, second)]
        case 2:
            var keys: [EntityKey] = []
            if let first = handles[0], let second = handles[1] { keys.append(EntityKey(section, first, second)) }
            if ids[0] == name.rawValue, let first = handles[1] { keys.append(EntityKey(section, first)) }
            return keys
        case 1:
            guard let last = handles[0] else { return [] }
            return [EntityKey(section, last)]
                + fold.keys(in: section, names: context.names).filter { $0.second == last }
        default: return []
        }
    }
}

extension Messages {
    /// The keys of one channel's rows, in no particular order.
    fileprivate func keys(in section: Section, ofChannel channel: EntityID, names: Names) -> [EntityKey] {
        let wanted: State = section == .messages ? .live : .deleted
        return store.places(in: channel).filter { state(at: $0) == wanted }
            .map { EntityKey(section, channel, store.cells[$0].id) }
    }
}
