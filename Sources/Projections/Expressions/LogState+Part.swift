public import EventLog

extension LogState {
    /// The state document with only the rows of one thing: a message's in `messages` or `deletedMessages`, and so on.
    ///
    /// The digest is left out, since it covers the whole state. Cost: O(1) if the reference is complete.
    public func document(of reference: EntityReference, _ options: DocumentOptions = DocumentOptions()) -> JSONValue {
        let asOf = asOf(options)
        var document: JSONObject = [
            "format": .string("eventlog.state/1"),
            "sequence": .string(sequence.description),
            "asOf": .string(asOf.description),
            "profile": .string(options.reading),
        ]
        for section in reference.kind.sections {
            var rows: [JSONValue] = []
            forEachRow(in: ExpressionSelection(section: section, ids: reference.parts, column: 1)) { row in
                rows.append(row.value)
                return true
            }
            document[section.rawValue] = .array(rows)
        }
        return .object(document)
    }

    /// The rows about one channel, as in `ChannelState`; the arrays are empty if the state has no such channel. If
    /// channels of several sources fit, the first source counts.
    public func document(ofChannel name: EntityReference, _ options: DocumentOptions = DocumentOptions()) -> JSONValue {
        if let state = ChannelState.find(name, in: self).first { return state.document(options) }
        var options = options
        options.sections = []
        var state = LogState()
        (state.sequence, state.clock) = (sequence, clock)
        guard case .object(var document) = state.document(options) else { return .null }
        document["digest"] = nil
        for section in ChannelState.sections { document[section.rawValue] = .array([]) }
        return .object(document)
    }

    /// Whether the last event may have changed rows of these sections.
    public func touches(_ wanted: Set<Section>, by envelope: Envelope) -> Bool {
        guard !envelope.isAct, let state = state(of: envelope.source) else { return false }
        // Issues are not noted as touched rows, so any event may have left one.
        return wanted.contains(.issues) || state.context.touched.contains { wanted.contains($0.section) }
    }
}
