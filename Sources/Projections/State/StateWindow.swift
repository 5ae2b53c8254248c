import EventLog

/// Where a list that people see stands: the messages of a channel, the items of a list, the rows of a table, the things of a
/// kind.
package struct PlaceName: Hashable, Sendable {
    /// `message` of the messages of a channel.
    package let kind: EntityReference.Kind
    /// The source, and the id of the channel, list, guild or table, if the things of the kind have one.
    package let parts: [String]

    /// The place of a thing; `nil` for what has none.
    package init?(of thing: EntityReference) {
        let isChannel = thing.kind == .channel
        guard thing.parts.count >= 2, !isChannel || thing.parts.count == 2 else { return nil }
        let isWithin = (isChannel || thing.parts.count > 2) && thing.kind != .issue
        kind = isChannel ? .message : thing.kind
        parts = Array(thing.parts.prefix(isWithin ? 2 : 1))
    }

    /// The place of a written thing without its last part: `message:guild/10`, `session:hooks`.
    package init?(_ text: String) {
        guard let reference = EntityReference(text), (1...2).contains(reference.parts.count) else { return nil }
        (kind, parts) = (reference.kind, reference.parts)
    }

    fileprivate init(_ kind: EntityReference.Kind, _ parts: [String]) { (self.kind, self.parts) = (kind, parts) }

    /// The text that `init(_:)` reads.
    package var text: String { EntityReference(kind: kind, parts: parts).description }
}

/// Some rows of a state, for a page that cannot hold all: of a few places those around some things and the last ones, and
/// of every place how many there are.
package struct StateWindow: Sendable {
    /// How much a window has of a place.
    package struct Size: Sendable {
        /// The last messages of a channel, the first rows of any other place, where the place was asked for.
        package var rows: Int
        /// The same of a place that is in the window for the things in it alone.
        package var tail: Int
        /// The messages before and behind each thing that it is made around.
        package var reach: Int

        package init(rows: Int, tail: Int, reach: Int) { (self.rows, self.tail, self.reach) = (rows, tail, reach) }
    }

    /// One place.
    package struct Place: Sendable {
        /// Its name.
        package let name: PlaceName
        /// The rows of the state, deleted messages left out.
        package let count: Int
        /// How many rows behind the last one of the window are left out; `nil` where all are, because the place was not
        /// asked for.
        package let hidden: Int?
    }

    /// The rows: `added`, by kind, then in the document's order.
    package fileprivate(set) var rows: [StateDifference] = []
    /// What sorts the messages among them, deleted ones too, in the remote's order; see `LogState.order(of:)`.
    package fileprivate(set) var orders: [EntityReference: String] = [:]
    /// For a message, how many before it, behind the one before it in the window, are left out.
    package fileprivate(set) var hidden: [EntityReference: Int] = [:]
    /// The places with rows, and those that were asked for; sorted by source and kind.
    package fileprivate(set) var places: [Place] = []

    /// What the window has of one place.
    func only(_ place: PlaceName) -> StateWindow {
        var window = self
        window.rows = rows.filter { PlaceName(of: $0.entity) == place }
        window.places = places.filter { $0.name == place }
        return window
    }
}

extension LogState {
    /// A window. Cost: O(messages) to count them, O(n log n) for the messages of each place in it, O(keys) of all other rows.
    ///
    /// - Parameters:
    ///   - touched: The things that must be in it, if the state has them, with the orders that live messages among them will
    ///     have. Their places are in it.
    ///   - wanted: Other places that are in it.
    package func window(
        around touched: [EntityReference: String?],
        in wanted: Set<PlaceName>,
        _ size: StateWindow.Size
    ) -> StateWindow {
        var maker = WindowMaker(touched, wanted, size, clock)
        for source in sources.sorted(by: { $0.name < $1.name }) { maker.add(source) }
        return maker.finished()
    }
}

private struct WindowMaker {
    private let touched: [PlaceName: [(thing: EntityReference, order: String?)]]
    /// The places that were asked for, and all that are in the window.
    private let (asked, wanted): (Set<PlaceName>, Set<PlaceName>)
    private let size: StateWindow.Size
    private let clock: Timestamp?
    private var sections: [Section: [JSONValue]] = [:]
    private var issues: [StateDifference] = []
    private var window = StateWindow()

    /// More channels than these are known by their ids alone, more kinds of issues not at all.
    private static let namesMax = 5000

    init(
        _ touched: [EntityReference: String?],
        _ wanted: Set<PlaceName>,
        _ size: StateWindow.Size,
        _ clock: Timestamp?
    ) {
        var places: [PlaceName: [(thing: EntityReference, order: String?)]] = [:]
        for (thing, order) in touched {
            if let place = PlaceName(of: thing) { places[place, default: []].append((thing, order)) }
        }
        (asked, self.wanted) = (wanted, wanted.union(places.keys))
        (self.touched, self.size, self.clock) = (places, size, clock)
    }

    private func rows(of place: PlaceName) -> Int { asked.contains(place) ? size.rows : size.tail }

    mutating func add(_ source: SourceState) {
        addMessages(of: source)
        for kind in EntityReference.Kind.allCases where kind != .message && kind != .typing && kind != .issue {
            for section in kind.sections { addRows(of: source, section, kind) }
        }
        addIssues(of: source)
    }

    /// The window, its rows in the form of a difference to an empty state.
    func finished() -> StateWindow {
        var document = JSONObject()
        for section in Section.allCases {
            if let rows = sections[section] { document[section.rawValue] = .array(rows) }
        }
        var window = window
        window.rows = StateDiff.differences(.object(JSONObject()), .object(document)) + issues
        return window
    }

    private mutating func addRow(_ key: EntityKey, of source: SourceState) {
        let row = source.fold(for: key.section)?.row(for: key, context: source.rowContext(asOf: clock))
        if let row { sections[key.section, default: []].append(source.withSource(row)) }
    }

    // MARK: Messages

    private mutating func addMessages(of source: SourceState) {
        let (messages, names) = (source.parts.messages, source.context.names)
        // Not through the properties: the compiler would copy a source's whole state for each message.
        let (store, channels) = (messages.store, messages.store.channels)
        let cells = store.cells
        var counts = [Int](repeating: 0, count: channels.count)
        for place in 0..<store.count where messages.state(at: place) == .live { counts[Int(cells[place].channel)] += 1 }
        for (index, channel) in channels.enumerated() where store.hadMessage(index) {
            let name = PlaceName(.message, [source.name.rawValue, names.text(channel.id)])
            let hidden = wanted.contains(name) ? addMessages(of: channel.id, name, source) : nil
            window.places.append(StateWindow.Place(name: name, count: counts[index], hidden: hidden))
        }
    }

    /// Adds the rows of one channel; gives how many lie behind the last one.
    private mutating func addMessages(of channel: EntityID, _ name: PlaceName, _ source: SourceState) -> Int {
        let (messages, names) = (source.parts.messages, source.context.names)
        let all = Self.inOrder(of: channel, messages, names)
        let cells = messages.store.cells
        var end = 0
        for index in indexes(of: all, name, messages, names) {
            let place = all[index]
            let section = messages.state(at: place) == .live ? Section.messages : .deletedMessages
            let thing = EntityReference(kind: .message, parts: name.parts + [names.text(cells[place].id)])
            addRow(EntityKey(section, channel, cells[place].id), of: source)
            window.orders[thing] = messages.orderedMessage(at: place).text(names)
            if index > end { window.hidden[thing] = index - end }
            end = index + 1
        }
        return all.count - end
    }

    /// The places of a channel's messages in the remote's order, deleted ones where they stood.
    private static func inOrder(of channel: EntityID, _ messages: Messages, _ names: Names) -> [Int] {
        let live = messages.livePlaces(in: channel, names)
        var gone = messages.places(in: channel, being: .deleted).map { messages.orderedMessage(at: $0) }
        if gone.isEmpty { return live }
        gone.sort { OrderedMessage.precedes($0, $1, names) }
        var all: [Int] = []
        all.reserveCapacity(live.count + gone.count)
        var next = gone[...]
        for place in live {
            let message = messages.orderedMessage(at: place)
            while let first = next.first, OrderedMessage.precedes(first, message, names) {
                all.append(first.place)
                next.removeFirst()
            }
            all.append(place)
        }
        return all + next.map(\.place)
    }

    /// The indexes of the messages of the window, ascending.
    private func indexes(of all: [Int], _ name: PlaceName, _ messages: Messages, _ names: Names) -> [Int] {
        var chosen = Set((max(0, all.count - rows(of: name))..<all.count))
        var ids: Set<EntityID> = []
        for (thing, order) in touched[name] ?? [] {
            if let id = names.find(thing.parts.last ?? "") { ids.insert(id) }
            guard let order else { continue }
            choose(Self.index(of: order, in: all, messages, names), of: all.count, &chosen)
        }
        let cells = messages.store.cells
        for (index, place) in all.enumerated() where ids.contains(cells[place].id) {
            choose(index, of: all.count, &chosen)
        }
        return chosen.sorted()
    }

    private func choose(_ index: Int, of count: Int, _ chosen: inout Set<Int>) {
        chosen.formUnion(max(0, index - size.reach)..<min(count, index + size.reach + 1))
    }

    /// The index before which a message of an order would stand.
    private static func index(of order: String, in all: [Int], _ messages: Messages, _ names: Names) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            let text = messages.orderedMessage(at: all[middle]).text(names)
            if text.utf8.lexicographicallyPrecedes(order.utf8) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Other rows

    private mutating func addRows(of source: SourceState, _ section: Section, _ kind: EntityReference.Kind) {
        let names = source.context.names
        let keys = source.fold(for: section)?.keys(in: section, names: names) ?? []
        if kind == .channel { return keys.prefix(Self.namesMax).forEach { addRow($0, of: source) } }
        // The keys of a place follow each other.
        var start = keys.startIndex
        while start < keys.endIndex {
            let isWithin = keys[start].second != .none
            let end =
                isWithin ? keys[start...].firstIndex { $0.first != keys[start].first } ?? keys.endIndex : keys.endIndex
            let parts = [source.name.rawValue] + (isWithin ? [names.text(keys[start].first)] : [])
            add(keys[start..<end], of: source, PlaceName(kind, parts))
            start = end
        }
    }

    private mutating func add(_ keys: ArraySlice<EntityKey>, of source: SourceState, _ name: PlaceName) {
        guard wanted.contains(name) else {
            return window.places.append(StateWindow.Place(name: name, count: keys.count, hidden: nil))
        }
        let things = Set(touched[name]?.map(\.thing) ?? [])
        let rows = rows(of: name)
        var shown = 0
        for (index, key) in keys.enumerated() {
            let thing = EntityReference(kind: name.kind, parts: source.parts(of: key))
            guard index < rows || things.contains(thing) else { continue }
            addRow(key, of: source)
            shown += 1
        }
        window.places.append(StateWindow.Place(name: name, count: keys.count, hidden: keys.count - shown))
    }

    private mutating func addIssues(of source: SourceState) {
        var counts: [String: Int] = [:]
        for issue in source.issues.rows { counts[issue.reason, default: 0] += 1 }
        let known = counts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.prefix(Self.namesMax)
        for (reason, count) in known {
            let field = StateDifference.Field(name: "count", a: nil, b: .int(count))
            let thing = EntityReference(kind: .issue, parts: [source.name.rawValue, reason])
            issues.append(StateDifference(entity: thing, change: .added, fields: [field]))
        }
    }
}
