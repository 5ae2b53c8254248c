import EventLog

/// The remote's own order of the things of each channel, where the place at which they were stated tells it.
///
/// A place, once given, stays. Each thing has a number beside its neighbours, so that one that is put between two others
/// moves none. Cost of each call: O(1).
struct DecoderPlaces: Codable, Sendable {
    private struct Place: Codable, Sendable {
        let number: Int
        /// The thing in front; `nil` for the first.
        var previous: EntityID?
    }

    private struct List: Codable, Sendable {
        var places: [EntityID: Place] = [:]
        var first, last: EntityID?
        /// The foremost thing that each token of the remote stands for.
        var marks: [EntityID: EntityID] = [:]
    }

    /// The distance of things that come one behind another.
    private static let distance = 1 << 32

    private var lists: [EntityID: List] = [:]

    /// The number by which a thing is ordered among those of its channel; `nil` if it has no place.
    func number(of id: EntityID, in channel: EntityID) -> Int? { lists[channel]?.places[id]?.number }

    /// The thing that a token stands for.
    func marked(by token: EntityID, in channel: EntityID) -> EntityID? { lists[channel]?.marks[token] }

    /// The first thing of a channel.
    func first(in channel: EntityID) -> EntityID? { lists[channel]?.first }

    /// Gives a thing the last place of its channel, or the one in front of another; one that has a place keeps it.
    ///
    /// - Returns: its number. Things that lie too close to have a number between them share one.
    @discardableResult
    mutating func place(_ id: EntityID, in channel: EntityID, before next: EntityID?) -> Int {
        Steps.count(1)
        if let known = self.number(of: id, in: channel) { return known }
        guard let next, let place = lists[channel]?.places[next] else { return append(id, in: channel) }
        let number = Self.number(between: place.previous.flatMap { self.number(of: $0, in: channel) }, place.number)
        lists[channel]?.places[id] = Place(number: number, previous: place.previous)
        lists[channel]?.places[next]?.previous = id
        if place.previous == nil { lists[channel]?.first = id }
        return number
    }

    private mutating func append(_ id: EntityID, in channel: EntityID) -> Int {
        let last = lists[channel]?.last
        let known = last.flatMap { self.number(of: $0, in: channel) }
        let number = known.map { $0 > .max - Self.distance ? $0 : $0 + Self.distance } ?? 0
        put(id, in: channel, number: number)
        return number
    }

    private mutating func put(_ id: EntityID, in channel: EntityID, number: Int) {
        let last = lists[channel]?.last
        lists[channel, default: List()].places[id] = Place(number: number, previous: last)
        lists[channel]?.last = id
        if last == nil { lists[channel]?.first = id }
    }

    /// A number in front of another. Close to it, as a page brings many things, each in front of the one before.
    private static func number(between lower: Int?, _ upper: Int) -> Int {
        guard let lower else { return upper < .min + distance ? upper : upper - distance }
        let (gap, isOver) = upper.subtractingReportingOverflow(lower)
        return gap > 1 || isOver ? upper - max(1, (isOver ? .max : gap) >> 12) : upper
    }

    /// Makes a token stand for a thing that has a place, unless it stands for one in front of it.
    mutating func mark(_ id: EntityID, in channel: EntityID, by token: EntityID) {
        guard let number = self.number(of: id, in: channel) else { return }
        let known = marked(by: token, in: channel).flatMap { self.number(of: $0, in: channel) }
        if known.map({ number < $0 }) ?? true { lists[channel]?.marks[token] = id }
    }

    // MARK: - Compactions

    /// All places and tokens, by channel; empty without any.
    func facts(_ names: Names) -> [JSONValue] {
        let lists = lists.map { (channel: names.text($0.key), list: $0.value) }
            .sorted { ExactText.precedes($0.channel, $1.channel) }
        return lists.map { channel, list in
            var (order, next): ([JSONValue], EntityID?) = ([], list.last)
            while let id = next, let place = list.places[id] {
                order.append(.array([.string(names.text(id)), .string(String(place.number))]))
                next = place.previous
            }
            let marks = list.marks.map { (token: names.text($0.key), id: names.text($0.value)) }
                .sorted { ExactText.precedes($0.token, $1.token) }
            return .array([
                .string(channel), .array(order.reversed()), .array(marks.map { .array([.string($0), .string($1)]) }),
            ])
        }
    }

    mutating func load(facts: JSONValue?, names: inout Names) throws {
        for fact in facts?.array ?? [] {
            let parts = fact.array ?? []
            guard parts.count == 3, let channel = parts[0].string.map({ names.id($0) }), let places = parts[1].array,
                let marks = parts[2].array
            else { throw ProjectionError.facts("the places of a channel have another form") }
            for place in places {
                guard let id = place.array?.first?.string, let number = place.array?.last?.string.flatMap({ Int($0) })
                else { throw ProjectionError.facts("a place has another form") }
                put(names.id(id), in: channel, number: number)
            }
            for mark in marks {
                guard let token = mark.array?.first?.string, let id = mark.array?.last?.string else {
                    throw ProjectionError.facts("a token of a place has another form")
                }
                lists[channel]?.marks[names.id(token)] = names.id(id)
            }
        }
    }
}
