import EventLog

/// The rows of a state that may differ from those of another one. May contain rows that do not differ; must not lack
/// one that does.
///
/// Keys are handles, valid for one fold: two states of different folds need one value each.
struct TouchedRows {
    private var keys: [SourceName: Set<EntityKey>] = [:]
    /// The channels of touched messages, whose order may differ. Only messages of these channels are looked up.
    private var channels: [SourceName: Set<EntityID>] = [:]

    /// Adds the rows that the last event touched. They are also valid for every earlier state of the same fold: handles
    /// mean the same in all of them, and earlier states only lack some. Acts touch nothing.
    mutating func add(_ event: Envelope, of state: LogState) {
        guard !event.isAct, let source = state.state(of: event.source) else { return }
        for key in source.context.touched { add(key, of: event.source) }
    }

    /// Adds one row; for a message also the order of its channel. The row need not exist in the state.
    mutating func add(_ key: EntityKey, of source: SourceName) {
        keys[source, default: []].insert(key)
        if key.section == .messages || key.section == .deletedMessages { add(orderOf: key.first, of: source) }
    }

    /// Adds the order of a channel's messages.
    mutating func add(orderOf channel: EntityID, of source: SourceName) {
        channels[source, default: []].insert(channel)
    }

    /// These rows of a state, in the document's order, and all issues. O(rows of the touched sections, of messages
    /// those in the touched channels).
    func part(of state: LogState) -> StateDiff.Part {
        var sections: [Section: [JSONValue]] = [:]
        var orders = MessageOrders()
        let sources = state.sources.filter { keys[$0.name] != nil || channels[$0.name] != nil }.sorted {
            $0.name < $1.name
        }
        for source in sources {
            let touched = keys[source.name] ?? []
            var wanted = Set(touched.map(\.section))
            // A touched message may be live in one state and deleted in the other.
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
        // Sorted only for a fixed order of members; `StateDiff` reads them by name.
        for (section, rows) in sections.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            document[section.rawValue] = .array(rows)
        }
        document[Section.issues.rawValue] = .array(state.rows(in: .issues, asOf: state.clock ?? Timestamp(seconds: 0)))
        return StateDiff.Part(document: .object(document), orders: orders)
    }

    /// The keys of a section's rows in the document's order; of messages only those in touched channels.
    private func rowKeys(in section: Section, of source: SourceState) -> [EntityKey] {
        let messages = source.parts.messages
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

    /// The touched channels with a known message, in the document's order.
    private func touchedChannels(of source: SourceState) -> [EntityID] {
        let touched = channels[source.name] ?? []
        return touched.isEmpty ? [] : source.parts.messages.channels(source.context.names).filter(touched.contains)
    }

    /// Adds all live messages of the touched channels, as texts: the whole order shows which messages have moved.
    private func addOrders(of source: SourceState, to orders: inout MessageOrders) {
        let messages = source.parts.messages
        let names = source.context.names
        for channel in touchedChannels(of: source) {
            let ids = messages.livePlaces(in: channel, names).map { names.text(messages.store.cells[$0].id) }
            orders.add(ids, source: source.name.rawValue, channel: names.text(channel))
        }
    }
}

extension EntityKey {
    /// The key of the same message in the other section of messages; the key itself for other rows.
    fileprivate var ofOtherSection: EntityKey {
        switch section {
        case .messages: EntityKey(.deletedMessages, first, second)
        case .deletedMessages: EntityKey(.messages, first, second)
        default: self
        }
    }
}
