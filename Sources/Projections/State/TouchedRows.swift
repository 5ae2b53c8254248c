import EventLog

/// The rows of a state that may differ from those of another one. May contain rows that do not differ; must not lack
/// one that does.
///
/// Sources are known by their index in the state, and keys are handles: valid for one fold. Two states of different
/// folds need one value each.
struct TouchedRows {
    /// The rows of one source.
    private struct Source {
        /// Rows that are no messages.
        var keys: Set<EntityKey> = []
        /// For each place in the store, whether the message is touched. May be shorter than the store.
        var messages: [Bool] = []
        /// For each channel of the store, whether its order may differ. May be shorter than the store's list.
        var channels: [Bool] = []
        /// The last message added. An event mostly touches a message under both its keys.
        var last: EntityKey?
    }

    private var sources: [Source] = []

    /// Adds the rows that the last event touched. They are also valid for every earlier state of the same fold: handles
    /// and places mean the same in all of them, and earlier states only lack some. Acts touch nothing.
    mutating func add(_ event: Envelope, of state: borrowing LogState) {
        guard !event.isAct, let index = state.indexes[event.source] else { return }
        for key in state.sources[index].context.touched { add(key, of: state, source: index) }
    }

    /// Adds one row; for a message also the order of its channel. The row need not exist in the state.
    mutating func add(_ key: EntityKey, of state: borrowing LogState, source: Int) {
        while sources.count <= source { sources.append(Source()) }
        guard key.section.isOfMessages else {
            sources[source].keys.insert(key)
            return
        }
        let message = key.ofWholeMessage
        if sources[source].last == message { return }
        sources[source].last = message
        guard let place = state.sources[source].parts.messages.place(of: key) else { return }
        add(messageAt: place, of: state, source: source)
    }

    /// Adds the message at a place, and the order of its channel.
    mutating func add(messageAt place: Int, of state: borrowing LogState, source: Int) {
        while sources.count <= source { sources.append(Source()) }
        Self.note(place, in: &sources[source].messages)
        Self.note(Int(state.sources[source].parts.messages.store.cells[place].channel), in: &sources[source].channels)
    }

    /// Adds the order of a channel's messages.
    mutating func add(orderOf channel: EntityID, of state: borrowing LogState, source: Int) {
        while sources.count <= source { sources.append(Source()) }
        guard let channel = state.sources[source].parts.messages.store.channel(channel) else { return }
        Self.note(channel, in: &sources[source].channels)
    }

    private static func note(_ index: Int, in list: inout [Bool]) {
        if list.count <= index { list.append(contentsOf: repeatElement(false, count: index + 1 - list.count)) }
        list[index] = true
    }

    /// Whether no message and no order is touched.
    var hasNoMessages: Bool { sources.allSatisfy { $0.messages.isEmpty && $0.channels.isEmpty } }

    /// Whether the message at a place is touched.
    func hasMessage(at place: Int, source: Int) -> Bool {
        source < sources.count && place < sources[source].messages.count && sources[source].messages[place]
    }

    /// Whether the order of the messages of a channel may differ; `channel` is its index in the store.
    func hasOrder(ofChannel channel: Int, source: Int) -> Bool {
        source < sources.count && channel < sources[source].channels.count && sources[source].channels[channel]
    }

    /// These rows of a state other than messages, in the document's order, and all issues. O(rows of the touched
    /// sections).
    func document(of state: LogState) -> JSONValue {
        var sections: [Section: [JSONValue]] = [:]
        let indexes = state.sources.indices.filter { $0 < sources.count && !sources[$0].keys.isEmpty }
        // Several sources may have one name, each with rows of another channel, in order.
        for index in indexes.sorted(by: { (state.sources[$0].name, $0) < (state.sources[$1].name, $1) }) {
            let (source, touched) = (state.sources[index], sources[index].keys)
            let wanted = Set(touched.map(\.section))
            let context = source.rowContext(asOf: state.clock)
            for section in Section.allCases where wanted.contains(section) && section != .issues {
                guard let fold = source.fold(for: section) else { continue }
                let keys = fold.keys(in: section, names: source.context.names).filter(touched.contains)
                sections[section, default: []] += keys.compactMap {
                    fold.row(for: $0, context: context).map(source.withSource)
                }
            }
        }
        var document = JSONObject()
        // Sorted only for a fixed order of members; `StateDiff` reads them by name.
        for (section, rows) in sections.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            document[section.rawValue] = .array(rows)
        }
        document[Section.issues.rawValue] = .array(state.rows(in: .issues, asOf: state.clock ?? Timestamp(seconds: 0)))
        return .object(document)
    }
}
