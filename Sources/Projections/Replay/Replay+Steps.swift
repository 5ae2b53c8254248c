public import EventLog

extension Replay {
    /// Each event of a range with what it changed in the state.
    ///
    /// Two states are folded one event apart, and only the rows that the event touched are compared. Cost: O(touched
    /// rows) per event, besides folding it twice. Both states are in memory.
    /// - Parameters:
    ///   - progress: Called now and then, on the way to the range, with the last event folded.
    ///   - body: Gets each folded event of the range, acts included, and its differences; returns false to stop.
    /// - Throws: as `logState`, for the point before the range.
    public static func steps(
        of session: borrowing ReadSession,
        in range: ClosedRange<SequenceNumber>,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil,
        _ body: (_ event: Envelope, _ differences: [StateDifference]) throws -> Bool
    ) throws {
        let start = SequenceNumber(max(range.lowerBound.rawValue, 1) - 1)
        let before = try logState(of: session, through: start, options: options, progress: progress)
        try steps(from: before, over: session, through: range.upperBound, options: options, body)
    }

    /// Each event after a state, up to a point, with what it changed.
    ///
    /// - Parameters:
    ///   - state: A state of this log, folded with the same options.
    ///   - last: The last event to give; none is given if the state contains it already.
    ///   - body: As in `steps(of:in:)`.
    /// - Throws: `EventLogError` if the log cannot be read, or a checked event is not as it was appended.
    public static func steps(
        from state: LogState,
        over session: borrowing ReadSession,
        through last: SequenceNumber,
        options: ReplayOptions = ReplayOptions(),
        _ body: (_ event: Envelope, _ differences: [StateDifference]) throws -> Bool
    ) throws {
        try steps(from: state, over: session, through: last, options: options) { event, differences, _ in
            try body(event, differences)
        }
    }

    /// The same with the state behind each event, which `body` borrows.
    package static func steps(
        from state: LogState,
        over session: borrowing ReadSession,
        through last: SequenceNumber,
        options: ReplayOptions = ReplayOptions(),
        _ body: (_ event: Envelope, _ differences: [StateDifference], _ after: borrowing LogState) throws -> Bool
    ) throws {
        guard state.sequence < last else { return }
        var (before, after) = (state, state)
        try session.forEachEvent(in: state.sequence.next...last) { event in
            guard options.includes(event.source, event.sequence) else { return true }
            if options.checks { try session.check(event) }
            let envelope = event.envelope
            return try event.withPayload { payload in
                after.apply(envelope, payload: payload)
                let touched = after.touchedRows(by: envelope)
                let differences = StateDiff.differences(
                    before.document(of: touched) { after.part(of: $0, at: envelope.sequence)?.before },
                    after.document(of: touched) { after.part(of: $0, at: envelope.sequence)?.after }
                )
                // Folding twice costs less than copying a state for each event.
                before.apply(envelope, payload: payload)
                assert(before.sequence == after.sequence, "between events, both states have folded the same ones")
                return try body(envelope, differences + after.newIssues(of: envelope), after)
            }
        }
    }
}

/// A row by its texts, which mean the same in every state; handles do not.
struct RowName: Hashable {
    let source: SourceName
    let section: Section
    let first: String
    /// `nil` if one id identifies the row.
    let second: String?
}

extension LogState {
    /// The rows that the last event of the state touched, each once; none for an act. As texts, because `before` and
    /// `after` intern new names on their own.
    func touchedRows(by envelope: Envelope) -> [RowName] {
        guard let index = indexes[envelope.source] else { return [] }
        let state = sources[index]
        var seen: Set<RowName> = []
        return state.context.touched.map { key in
            RowName(
                source: state.name,
                section: key.section,
                first: state.context.names.text(key.first),
                second: key.second == .none ? nil : state.context.names.text(key.second)
            )
        }.filter { seen.insert($0).inserted }
    }

    /// A state document of only these rows, as far as the state has them, in the order of the names.
    ///
    /// - Parameter part: gives the part of a row that the event changed, for rows that are not compared whole.
    func document(of rows: [RowName], part: (RowName) -> JSONObject?) -> JSONValue {
        var sections: [Section: [JSONValue]] = [:]
        for name in rows {
            guard let (state, key) = place(of: name) else { continue }
            if var part = part(name) {
                // Where an item is, other items decide, so only a state knows.
                if name.section == .items {
                    part["position"] = state.parts.items.place(of: key, names: state.context.names).map { .int($0) }
                }
                sections[name.section, default: []].append(state.withSource(.object(part)))
            } else if let row = state.fold(for: name.section)?.row(for: key, context: state.rowContext(asOf: clock)) {
                sections[name.section, default: []].append(state.withSource(row))
            }
        }
        var document = JSONObject()
        for section in Section.allCases {
            if let rows = sections[section] { document[section.rawValue] = .array(rows) }
        }
        return .object(document)
    }

    /// What an event changed in a row that is too large to compare it whole with each of its changes; `nil` for any other.
    func part(of name: RowName, at sequence: SequenceNumber) -> RowPart? {
        guard let (state, key) = place(of: name) else { return nil }
        let context = state.rowContext(asOf: clock)
        return switch name.section {
        case .rows: state.parts.rows.changedRow(for: key, at: sequence, context: context)
        case .items: state.parts.items.changedItem(for: key, at: sequence, context: context)
        case .members: state.parts.community.changedMember(for: key, at: sequence, context: context)
        default: nil
        }
    }

    private func place(of name: RowName) -> (SourceState, EntityKey)? {
        guard let index = indexes[name.source] else { return nil }
        let names = sources[index].context.names
        guard let first = names.find(name.first) else { return nil }
        var second = EntityID.none
        if let text = name.second {
            guard let known = names.find(text) else { return nil }
            second = known
        }
        return (sources[index], EntityKey(name.section, first, second))
    }

    /// The issues that the event left, as differences without fields. Issues are appended in sequence order, so those
    /// of the last event are the last ones.
    func newIssues(of envelope: Envelope) -> [StateDifference] {
        guard let index = indexes[envelope.source] else { return [] }
        return sources[index].issues.rows.reversed().prefix { $0.sequence == envelope.sequence }.reversed().map {
            issue in
            let parts = [envelope.source.rawValue, issue.reason]
            return StateDifference(entity: EntityReference(kind: .issue, parts: parts), change: .added, fields: [])
        }
    }
}
