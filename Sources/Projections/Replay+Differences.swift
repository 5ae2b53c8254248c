public import EventLog

extension Replay {
    /// What differs between the states at two points of one log: what `StateDiff.differences` says of their documents.
    ///
    /// The log is folded once, and only rows that an event between the points touched are compared. Cost: O(events) to
    /// fold, O(touched) to compare, and the ids of the channels whose messages were touched.
    /// - Parameters:
    ///   - first: The point of the first state.
    ///   - second: The point of the second state, before or after the first.
    ///   - progress: Called now and then with the last event that was folded.
    /// - Throws: as `workspace`, for either point.
    public static func differences(
        of session: borrowing ReadSession,
        from first: SequenceNumber,
        to second: SequenceNumber,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> [StateDifference] {
        let points = (earlier: min(first, second), later: max(first, second))
        let earlier = try workspace(of: session, through: points.earlier, options: options, progress: progress)
        var touched = TouchedRows()
        var isTold = 0
        let later = try advance(earlier, over: session, through: points.later, options: options) { event, state in
            touched.add(event, of: state)
            isTold &+= 1
            if isTold & 0xFFFF == 0 { progress?(event.sequence) }
            return true
        }
        let parts = (touched.part(of: earlier), touched.part(of: later))
        return first <= second ? StateDiff.differences(parts.0, parts.1) : StateDiff.differences(parts.1, parts.0)
    }
}

/// The rows that the events between two states of one log may have changed.
///
/// The later state was folded from the earlier one, so that ids mean the same in both; the earlier one lacks some.
private struct TouchedRows {
    private var keys: [SourceName: Set<EntityKey>] = [:]
    /// Where a message was touched.
    private var channels: [SourceName: Set<EntityID>] = [:]

    /// Takes what the last event touched.
    mutating func add(_ event: Envelope, of state: Workspace) {
        guard !event.isAct, let source = state.state(of: event.source) else { return }
        for key in source.context.touched {
            keys[event.source, default: []].insert(key)
            if key.section == .messages || key.section == .deletedMessages {
                channels[event.source, default: []].insert(key.first)
            }
        }
    }

    /// What a state says of these rows, in the document's order.
    func part(of state: Workspace) -> StateDiff.Part {
        var sections: [Section: [JSONValue]] = [:]
        var orders = MessageOrders()
        let sources = state.sources.filter { keys[$0.name] != nil }.sorted { $0.name < $1.name }
        for source in sources {
            let touched = keys[source.name] ?? []
            var wanted = Set(touched.map(\.section))
            if wanted.contains(.messages) || wanted.contains(.deletedMessages) {
                wanted.formUnion([.messages, .deletedMessages])
            }
            let context = source.rowContext(asOf: state.clock)
            for section in Section.allCases where wanted.contains(section) && section != .issues {
                sections[section, default: []] += rowKeys(in: section, of: source).filter {
                    touched.contains($0) || touched.contains($0.ofOtherSection)
                }.compactMap { source.fold(for: section)?.row(for: $0, context: context).map(source.withSource) }
            }
            addOrders(of: source, to: &orders)
        }
        var document = JSONObject()
        for (section, rows) in sections.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            document[section.rawValue] = .array(rows)
        }
        document[Section.issues.rawValue] = .array(state.rows(in: .issues, asOf: state.clock ?? Timestamp(seconds: 0)))
        return StateDiff.Part(document: .object(document), orders: orders)
    }

    /// The keys of a section's rows, of messages those of the touched channels, in the document's order.
    private func rowKeys(in section: Section, of source: SourceState) -> [EntityKey] {
        let messages = source.messages
        let names = source.context.names
        switch section {
        case .messages, .deletedMessages:
            return touchedChannels(of: source).flatMap { channel in
                let places =
                    section == .messages
                    ? messages.livePlaces(in: channel, names) : messages.deletedPlaces(in: channel, names)
                return places.map { EntityKey(section, channel, messages.store.cells[$0].id) }
            }
        default: return source.fold(for: section)?.keys(in: section, names: names) ?? []
        }
    }

    private func touchedChannels(of source: SourceState) -> [EntityID] {
        let touched = channels[source.name] ?? []
        return touched.isEmpty ? [] : source.messages.channels(source.context.names).filter(touched.contains)
    }

    private func addOrders(of source: SourceState, to orders: inout MessageOrders) {
        let messages = source.messages
        let names = source.context.names
        for channel in touchedChannels(of: source) {
            let ids = messages.livePlaces(in: channel, names).map { names.text(messages.store.cells[$0].id) }
            orders.add(ids, source: source.name.rawValue, channel: names.text(channel))
        }
    }
}

extension EntityKey {
    /// The key of the same message, deleted where this is of a live one, and the other way round.
    fileprivate var ofOtherSection: EntityKey {
        switch section {
        case .messages: EntityKey(.deletedMessages, first, second)
        case .deletedMessages: EntityKey(.messages, first, second)
        default: self
        }
    }
}
