import EventLog
import JSON

extension LogState {
    /// Calls `body` with each row that a selection may mean, in no particular order, until it returns false. The caller
    /// applies the filter. Rows are judged at the state's clock.
    func forEachRow(in selection: ExpressionSelection, _ body: (ExpressionRow) -> Bool) {
        if selection.section == .issues { return forEachIssue(of: selection, body) }
        // Saves the visit to other sources, whose rows the filter would all refuse.
        let wanted = selection.demanded("source")
        for source in sources where wanted == nil || wanted == source.name.rawValue {
            guard source.forEachRow(in: selection, asOf: clock, body) else { return }
        }
    }

    /// Visits the issues, which no fold holds. Ids are source and reason, or source and sequence. O(issues).
    private func forEachIssue(of selection: ExpressionSelection, _ body: (ExpressionRow) -> Bool) {
        let wanted = selection.ids.map { EntityReference(kind: .issue, parts: $0) }
        for row in rows(in: .issues, asOf: clock ?? Timestamp(seconds: 0)) {
            let isWanted = wanted.map { wanted in
                ["reason", "sequence"].contains { wanted.fits([row["source"]?.string ?? "", row[$0]?.string ?? ""]) }
            }
            if isWanted == false { continue }
            guard body(ExpressionRow(row)) else { return }
        }
    }
}

extension SourceState {
    /// Calls `body` with each row of the source; false once `body` has returned false.
    fileprivate func forEachRow(
        in selection: ExpressionSelection,
        asOf: Timestamp?,
        _ body: (ExpressionRow) -> Bool
    ) -> Bool {
        let section = selection.section
        guard let fold = fold(for: section) else { return true }
        let rowContext = rowContext(asOf: asOf)
        let isOfMessages = section == .messages || section == .deletedMessages
        if isOfMessages, selection.ids == nil { return forEachMessage(in: selection, rowContext, body) }
        let named = selection.ids.map { keys(named: $0, in: section, fold) }
        for key in named ?? fold.keys(in: section, names: context.names) {
            guard let row = fold.row(for: key, context: rowContext) else { continue }
            guard body(ExpressionRow(withSource(row))) else { return false }
        }
        return true
    }

    /// Visits messages without making their rows; those of one channel are found without visiting others. All calls of
    /// `body` get the same row object.
    private func forEachMessage(
        in selection: ExpressionSelection,
        _ rowContext: RowContext,
        _ body: (ExpressionRow) -> Bool
    ) -> Bool {
        let wanted: Messages.State = selection.section == .messages ? .live : .deleted
        let row = ExpressionRow(messageOf: self, in: selection.section, context: rowContext)
        let content = selection.demandedPart(of: "content").flatMap { TextSearch($0, ignoresCase: false) }
        func visit(_ place: Int) -> Bool {
            guard parts.messages.state(at: place) == wanted else { return true }
            if let content, !parts.messages.store.contentMayHold(content, at: place) { return true }
            row.move(toMessageAt: place)
            return body(row)
        }
        guard let channel = selection.demanded("channel") else {
            return (0..<parts.messages.store.count).allSatisfy(visit)
        }
        return context.names.find(channel).map { parts.messages.store.places(in: $0).allSatisfy(visit) } ?? true
    }

    /// The keys that ids can mean: source first, leading parts perhaps missing. A key may have no row. Cost: O(1), or
    /// O(rows of the section) for one id.
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
