import EventLog
import JSON

/// Compares the touched messages of two states, row by row, without making values of what agrees.
struct MessageDifferences {
    /// The messages of one source in one state. A class, so that handing it on copies none of them.
    fileprivate final class Side {
        let messages: Messages
        let names: Names
        let rules: ReadingRules
        let places: GroupedPlaces
        let touched: TouchedRows
        let index: Int

        init(_ state: LogState, _ touched: TouchedRows, _ index: Int) {
            let source = state.sources[index]
            (messages, names, rules) = (source.parts.messages, source.context.names, source.rowRules)
            (places, self.touched, self.index) = (GroupedPlaces(messages, names), touched, index)
        }

        /// The section in which the message at a place has its row.
        func section(at place: Int) -> Section? {
            switch messages.state(at: place) {
            case .live: .messages
            case .deleted: .deletedMessages
            case .unknown, .compacted: nil
            }
        }

        func withRow<Result>(of section: Section, at place: Int, _ body: (LentMessage) -> Result) -> Result? {
            messages.withRow(of: section, at: place, names, rules, body)
        }
    }

    /// One source in both states; `nil` for a state without it.
    fileprivate struct Pair {
        let name: String
        let sides: [Side?]

        init(_ name: SourceName, _ states: [(LogState, TouchedRows)], at indexes: [Int?]) {
            self.name = name.rawValue
            sides = zip(states, indexes).map { state, index in index.map { Side(state.0, state.1, $0) } }
        }
    }

    private let pairs: [Pair]
    /// Whether both states come from one fold, in which a message has one place.
    private let isOneFold: Bool

    init(_ a: (LogState, TouchedRows), _ b: (LogState, TouchedRows), isOneFold: Bool) {
        let states = [a, b]
        self.isOneFold = isOneFold
        if isOneFold {
            // A source has one index in both states; the earlier state may lack the last ones. Several may have one name.
            let sources = a.0.sources.count > b.0.sources.count ? a.0.sources : b.0.sources
            pairs = sources.indices.sorted { (sources[$0].name, $0) < (sources[$1].name, $1) }.map { index in
                Pair(sources[index].name, states, at: states.map { $0.0.sources.indices.contains(index) ? index : nil })
            }
        } else {
            pairs = Set((a.0.sources + b.0.sources).map(\.name)).sorted().map { name in
                Pair(name, states, at: states.map { $0.0.indexes[name] })
            }
        }
    }

    /// The differences of messages: those of the first state in the order of its document, then those that only the
    /// second has; then the channels with another order.
    func all() -> [StateDifference] {
        var found: [StateDifference] = []
        for side in [0, 1] {
            for section in [Section.messages, .deletedMessages] {
                for pair in pairs { add(section, side, of: pair, to: &found) }
            }
        }
        for pair in pairs { addOrders(of: pair, to: &found) }
        return found
    }

    /// Adds the differences of the touched rows of one section in one state; for the second state only of messages
    /// without a row in the first.
    private func add(_ section: Section, _ side: Int, of pair: Pair, to found: inout [StateDifference]) {
        guard let here = pair.sides[side] else { return }
        let there = pair.sides[1 - side]
        let places = here.places.places(in: section).filter { here.touched.hasMessage(at: $0, source: here.index) }[...]
        for (index, place) in places.enumerated() {
            here.messages.prefetch(places, after: index)
            let other = there.flatMap { row(of: place, of: here, in: $0) }
            if side == 1, other != nil { continue }
            let difference = here.withRow(of: section, at: place) { row -> StateDifference? in
                guard let there, let other else {
                    return Self.difference(side == 0 ? row : nil, side == 0 ? nil : row, pair.name)
                }
                return there.withRow(of: other.section, at: other.place) {
                    Self.difference(row, $0, pair.name)
                } ?? nil
            }
            if let difference = difference ?? nil { found.append(difference) }
        }
    }

    /// The row of the same message in the other state; `nil` if it has none there.
    private func row(of place: Int, of here: Side, in there: Side) -> (section: Section, place: Int)? {
        guard let twin = twin(of: place, of: here, in: there), let section = there.section(at: twin) else { return nil }
        return (section, twin)
    }

    /// The place of the same message in the other state; `nil` if it is not known there.
    private func twin(of place: Int, of here: Side, in there: Side) -> Int? {
        if isOneFold { return place < there.messages.store.count ? place : nil }
        let key = here.messages.store.key(at: place)
        func translated(_ id: EntityID) -> EntityID? {
            id.number == nil ? there.names.find(here.names.text(id)) : id
        }
        guard let channel = translated(key.channel), let id = translated(key.id) else { return nil }
        return there.messages.store.place(of: MessageKey(channel: channel, id: id))
    }
}

// MARK: - Orders

extension MessageDifferences {
    /// Adds the touched channels whose common live messages have another order. Messages that one side lacks are
    /// differences of their own.
    private func addOrders(of pair: Pair, to found: inout [StateDifference]) {
        guard let left = pair.sides[0], let right = pair.sides[1] else { return }
        let others = Dictionary(
            uniqueKeysWithValues: right.places.channels.map { (ExactText(right.names.text($0.id)), $0) }
        )
        for channel in left.places.channels {
            guard let index = left.messages.store.channel(channel.id),
                left.touched.hasOrder(ofChannel: index, source: left.index)
            else { continue }
            let name = left.names.text(channel.id)
            guard let other = others[ExactText(name)] else { continue }
            let first = left.places.places(in: .messages, of: channel).filter {
                row(of: $0, of: left, in: right)?.section == .messages
            }
            let second = right.places.places(in: .messages, of: other).filter {
                row(of: $0, of: right, in: left)?.section == .messages
            }
            let isSame = zip(first, second).allSatisfy { twin(of: $0, of: left, in: right) == $1 }
            if isSame { continue }
            let entity = EntityReference(kind: .channel, parts: [pair.name, name])
            let field = StateDifference.Field(name: "order", a: left.ids(at: first), b: right.ids(at: second))
            found.append(StateDifference(entity: entity, change: .changed, fields: [field]))
        }
    }
}

extension MessageDifferences.Side {
    func ids(at places: [Int]) -> JSONValue {
        .array(places.map { .string(names.text(messages.store.cells[$0].id)) })
    }
}

// MARK: - One message

extension MessageDifferences {
    /// The difference of one message, of which at least one row exists; `nil` if the rows agree.
    private static func difference(_ a: LentMessage?, _ b: LentMessage?, _ source: String) -> StateDifference? {
        guard let known = a ?? b else { return nil }
        let change: StateDifference.Change
        let fields: [StateDifference.Field]
        switch (a?.isLive, b?.isLive) {
        case (true, false): (change, fields) = (.deleted, ending(a, b, deleted: b))
        case (false, true): (change, fields) = (.restored, ending(a, b, deleted: a))
        case (nil, _): (change, fields) = (.added, Self.fields(a, b))
        case (_, nil): (change, fields) = (.removed, Self.fields(a, b))
        default:
            (change, fields) = (.changed, Self.fields(a, b))
            if fields.isEmpty { return nil }
        }
        let parts = [source, known.channel.text, known.id.text]
        return StateDifference(entity: EntityReference(kind: .message, parts: parts), change: change, fields: fields)
    }

    /// The members that the digest covers, without those of the key, in the document's order.
    private static let compared = LentMessage.Member.allCases.filter {
        $0 != .channel && $0 != .id && !Section.deletedMessages.membersOutsideDigest.contains($0.rawValue)
    }

    /// The members that differ: those of the first row in its order, then those that only the second has.
    private static func fields(_ a: LentMessage?, _ b: LentMessage?) -> [StateDifference.Field] {
        var fields: [StateDifference.Field] = []
        // A row that one state lacks has many fields, one that changed a few.
        fields.reserveCapacity(a == nil || b == nil ? 8 : 2)
        var isFirstWhole = false
        if let a, let b { isFirstWhole = a.hasSameRest(as: b) }
        func add(_ member: LentMessage.Member, isFirst: Bool) {
            if isFirstWhole, member == .attachments || member == .extra { return }
            let (left, right) = (a?[member] ?? .none, b?[member] ?? .none)
            guard left.exists == isFirst, isFirst || right.exists, !left.isSame(as: right) else { return }
            fields.append(StateDifference.Field(name: member.rawValue, a: left.json, b: right.json))
        }
        if a != nil { for member in compared { add(member, isFirst: true) } }
        if b != nil { for member in compared { add(member, isFirst: false) } }
        return fields
    }

    /// The fields of a deletion or restoration. Rows of deleted messages have fewer members, so others are not
    /// compared.
    private static func ending(
        _ a: LentMessage?,
        _ b: LentMessage?,
        deleted: LentMessage?
    ) -> [StateDifference.Field] {
        var fields = fields(a, b).filter { field in
            field.name != "content"
                && LentMessage.Member(rawValue: field.name).map { deleted?[$0].exists ?? false } ?? false
        }
        let (left, right) = (a?[.content].json, b?[.content].json)
        if left != nil || right != nil { fields.insert(.init(name: "content", a: left, b: right), at: 0) }
        return fields
    }
}

extension LentMessage {
    /// Whether the members kept verbatim are the same bytes; false proves nothing.
    fileprivate func hasSameRest(as other: LentMessage) -> Bool {
        guard isLive, other.isLive, case .packed(_, _, _, _, let here)? = version,
            case .packed(_, _, _, _, let there)? = other.version
        else { return false }
        return here.isSame(there)
    }
}

extension LentValue {
    /// The text of an id.
    fileprivate var text: String { json?.string ?? "" }

    /// Whether two values have the same canonical bytes, so that `1.0` and `1` are equal; true for none and none.
    fileprivate func isSame(as other: LentValue) -> Bool {
        switch (self, other) {
        case (.none, .none): return true
        case (.text(let left), .text(let right)): return left.saysSame(as: right)
        case (.number(let left), .number(let right)): return left == right
        case (.count(let left), .count(let right)): return left == right
        case (.time(let left), .time(let right)) where left == right: return true
        default:
            guard let left = json, let right = other.json else { return false }
            return left.canonicalBytes == right.canonicalBytes
        }
    }
}
