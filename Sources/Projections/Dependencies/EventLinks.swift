package import EventLog
import Kinds

/// The links between the events of a list: which touch the same things, and which need earlier ones.
///
/// An event is named by its place in the list, from 0. It *needs* the first event of each thing that it touches (an
/// edit needs its message's create), the create of the message that it answers, and the handshake of its connection. A
/// commit's parents are kept apart (`parents(of:)`), because otherwise every commit would need the whole history. Needs
/// are a heuristic: an event without what it needs still decodes, but may mean something else. So links decide only
/// which cuts `shrink` tries first, never its result.
package struct EventLinks: Sendable {
    /// The most things noted for one event: a snapshot of a long list touches every item.
    private static let thingsMax = 32
    /// The longest handshake, in events. A connection that touches nothing would otherwise be needed whole.
    private static let handshakeMax = 8

    /// The numbers of things, in the order of their first touch.
    private var table = ThingTable()
    /// For each event, what it needs, unsorted and with repeats; empty once `needs` is made.
    private var tails: [[Int]] = []
    /// The first event that touches each thing, by the thing's number.
    private var firstTouch: [Int: Int] = [:]
    /// The event of each commit, by the event's key.
    private var commits: [String: Int] = [:]
    /// The things that each event touches, as numbers, in order of first touch.
    package private(set) var things: [[Int]] = []
    /// The earlier events that each event needs, ascending.
    package private(set) var needs: [[Int]] = []
    /// The number of each event's source, in the order in which sources came.
    package private(set) var sources: [Int] = []
    /// The number of each event's connection.
    package private(set) var connections: [Int] = []
    /// For each event, the channel of the first thing that it touches, or that thing, as a number; negative, one number
    /// per connection, if it touches nothing.
    package private(set) var channels: [Int] = []
    /// The things' names, by number.
    package private(set) var references: [EntityReference] = []

    /// Reads a list of events; cost: one replay of them, with touched rows.
    ///
    /// - Parameters:
    ///   - drafts: The events in order.
    ///   - rules: How they are read.
    ///   - decoders: The decoder files of their sources.
    package init(of drafts: [DraftEvent], rules: ReadingRules = .canonical, decoders: Decoders = Decoders()) {
        var state = LogState(rules: rules)
        state.use(decoders)
        var lines = ConnectionLines()
        for (place, draft) in drafts.enumerated() {
            state.apply(draft)
            let source = state.sourceIndex(of: draft.source)
            let line = lines.number(of: draft, source: source)
            note(place, source: source, connection: line, in: state)
            assert(line <= lines.handshakes.count, "connections are numbered as they come")
            if line == lines.handshakes.count { lines.handshakes.append([]) }
            // Before the event joins the handshake, so that no event needs itself.
            add(lines.handshakes[line].prefix { $0 < place }, to: place)
            lines.extendHandshake(line, by: place, touches: !things[place].isEmpty, max: Self.handshakeMax)
            if EventFamily(kind: draft.kind) == .git, let key = draft.key { commits[key.rawValue] = place }
        }
        references = table.keys.map { thing in
            state.reference(to: thing.key, source: thing.source)
                ?? EntityReference(kind: .issue, parts: [state.sources[thing.source].name.rawValue])
        }
        needs = tails.map { Array(Set($0)).sorted() }
        tails = []
    }

    // MARK: - Asking

    /// The events that touch a thing with one of these texts as a part of its name, ascending.
    package func places(naming texts: Set<String>) -> [Int] {
        let wanted = Set(references.indices.filter { references[$0].parts.contains(where: texts.contains) })
        return things.indices.filter { things[$0].contains(where: wanted.contains) }
    }

    /// The events that touch a thing that one of these events touches, ascending.
    package func places(sharingThingsWith places: [Int]) -> [Int] {
        let wanted = Set(places.flatMap { things[$0] })
        return things.indices.filter { things[$0].contains(where: wanted.contains) }
    }

    /// These events and all that they need, directly or not, ascending. Leaves out the parents of commits.
    package func closure(of places: [Int]) -> [Int] {
        var found = Set(places)
        var left = places
        while let place = left.popLast() {
            for needed in needs[place] where found.insert(needed).inserted { left.append(needed) }
        }
        return found.sorted()
    }

    /// These events and those among `all` that need one of them, directly or not, ascending.
    ///
    /// - Parameter all: Ascending, so that one pass suffices: events need only earlier ones.
    package func dependents(of places: [Int], among all: [Int]) -> [Int] {
        var found = Set(places)
        for place in all where needs[place].contains(where: found.contains) { found.insert(place) }
        return found.sorted()
    }

    /// The places of a commit's parents, as far as the list contains them, ascending; empty for other events.
    package func parents(of draft: DraftEvent) -> [Int] {
        guard EventFamily(kind: draft.kind) == .git, let document = try? JSONValue.parse(draft.payload) else {
            return []
        }
        let parents = (document["parents"]?.array ?? []).compactMap { $0["commit"]?.string }
        return (parents + [document["from"]?.string].compactMap { $0 }).compactMap { commits[$0] }.sorted()
    }

    // MARK: - Reading

    /// Notes the things that the last event of `state` touched, and what it needs of earlier events.
    private mutating func note(_ place: Int, source: Int, connection: Int, in state: LogState) {
        var own: [Int] = []
        let touched = state.sources[source].context.touched
        for key in touched {
            guard own.count < Self.thingsMax else { break }
            guard let thing = table.number(of: key, source: source), !own.contains(thing) else { continue }
            own.append(thing)
        }
        assert(things.count == place && tails.count == place, "events are noted in order, each once")
        things.append(own)
        sources.append(source)
        connections.append(connection)
        channels.append(own.first.map { table.channel(of: $0) } ?? -1 - connection)
        tails.append([])
        for thing in own {
            if let first = firstTouch[thing] { tails[place].append(first) } else { firstTouch[thing] = place }
        }
        noteReply(place, touched, source: source, in: state)
    }

    /// Notes that a message needs the create of the one that it answers. Looks at the first touched message only.
    private mutating func noteReply(_ place: Int, _ touched: [EntityKey], source: Int, in state: LogState) {
        guard let key = touched.first(where: { $0.section == .messages }) else { return }
        let own = state.sources[source]
        guard let row = own.parts.messages.row(for: key, context: own.rowContext(asOf: nil)),
            let parent = row["replyTo"]?["id"]?.string.flatMap({ own.context.names.find($0) }),
            let thing = table.find(EntityKey(.messages, key.first, parent), source: source),
            let first = firstTouch[thing], first < place
        else { return }
        tails[place].append(first)
    }

    private mutating func add(_ places: some Sequence<Int>, to place: Int) {
        tails[place] += places
    }
}

/// Numbers for the things of all sources, from 0, in the order of their first touch.
private struct ThingTable: Sendable {
    struct Thing: Hashable, Sendable {
        let source: Int
        let key: EntityKey
    }

    private(set) var keys: [Thing] = []
    private var numbers: [Thing: Int] = [:]

    /// The number of the thing that a row is about, a new one if necessary; `nil` if rows of its section are about
    /// none.
    mutating func number(of key: EntityKey, source: Int) -> Int? {
        guard EntityReference.Kind(section: key.section) != nil else { return nil }
        let thing = Self.thing(key, source: source)
        if let known = numbers[thing] { return known }
        numbers[thing] = keys.count
        keys.append(thing)
        return keys.count - 1
    }

    func find(_ key: EntityKey, source: Int) -> Int? { numbers[Self.thing(key, source: source)] }

    /// The number of a message's channel; other things give their own number.
    mutating func channel(of number: Int) -> Int {
        let thing = keys[number]
        guard thing.key.section == .messages else { return number }
        return self.number(of: EntityKey(.channels, thing.key.first), source: thing.source) ?? number
    }

    /// The thing of a key: a message is the same one whether live or deleted.
    private static func thing(_ key: EntityKey, source: Int) -> Thing {
        let section = key.section == .deletedMessages ? .messages : key.section
        return Thing(source: source, key: EntityKey(section, key.first, key.second))
    }
}

/// The connections of all sources, numbered from 0, and the events that each began with.
private struct ConnectionLines {
    private struct Line: Hashable {
        let source: Int
        let name: String
    }

    private var numbers: [Line: Int] = [:]
    /// How many links of each source have opened so far.
    private var opened: [Int: Int] = [:]
    /// The connections whose handshake is over.
    private var isOver: Set<Int> = []
    /// The first events of each connection, up to the first that touches anything.
    var handshakes: [[Int]] = []

    /// The number of a draft's connection. If drafts do not name theirs, each link that opens begins one.
    mutating func number(of draft: DraftEvent, source: Int) -> Int {
        if draft.attributes["link"] == "open" { opened[source, default: 0] += 1 }
        let name = draft.attributes["connection"] ?? "#\(opened[source, default: 0])"
        let line = Line(source: source, name: name)
        if let known = numbers[line] { return known }
        numbers[line] = numbers.count
        return numbers.count - 1
    }

    /// Adds an event to its connection's handshake, unless that is over.
    mutating func extendHandshake(_ line: Int, by place: Int, touches: Bool, max: Int) {
        guard !isOver.contains(line) else { return }
        handshakes[line].append(place)
        if touches || handshakes[line].count == max { isOver.insert(line) }
    }
}
