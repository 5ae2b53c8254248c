import EventLog

/// A channel that has a row, or messages with rows, in a state. Valid for the state that gave it, and for its copies
/// until they change.
package struct StateChannel: Sendable {
    /// The source's name.
    package let source: String
    /// The channel's id.
    package let id: String
    /// The channel's row; `nil` if it has none.
    package let row: JSONValue?
    /// The places of its messages with a row, in the document's order.
    private let live: ArraySlice<Int>
    private let deleted: ArraySlice<Int>
    private let reader: MessageReader

    fileprivate init(
        _ id: EntityID,
        _ row: JSONValue?,
        live: ArraySlice<Int>,
        deleted: ArraySlice<Int>,
        _ reader: MessageReader
    ) {
        (source, self.id, self.row) = (reader.source, reader.names.text(id), row)
        (self.live, self.deleted, self.reader) = (live, deleted, reader)
    }

    /// The channel of a source, with messages at these places.
    init(_ id: EntityID, of source: SourceState, _ row: JSONValue?, live: [Int], deleted: [Int]) {
        self.init(id, row, live: live[...], deleted: deleted[...], MessageReader(source))
    }

    /// How many rows about the channel a section of messages has.
    package func count(in section: Section) -> Int { places(in: section).count }

    /// Lends the row at an index of a section of messages; indexes count from 0 in the document's order.
    package func withRow<Result>(
        in section: Section,
        at index: Int,
        _ body: (LentMessage) throws -> Result
    ) rethrows -> Result? {
        let places = places(in: section)
        reader.messages.prefetch(places, after: places.startIndex + index)
        return try reader.withRow(of: section, at: places[places.startIndex + index], body)
    }

    /// Whether the live message at an index answers another one.
    package func isReply(at index: Int) -> Bool {
        reader.messages.store.replyTo(at: live[live.startIndex + index]) != nil
    }

    private func places(in section: Section) -> ArraySlice<Int> { section == .messages ? live : deleted }
}

/// Lends the rows of the messages of one source. A class, so that many channels share one without copying it.
private final class MessageReader: Sendable {
    let source: String
    let messages: Messages
    let names: Names
    let rules: ReadingRules

    init(_ source: SourceState) {
        self.source = source.name.rawValue
        (messages, names, rules) = (source.parts.messages, source.context.names, source.rowRules)
    }

    func withRow<Result>(
        of section: Section,
        at place: Int,
        _ body: (LentMessage) throws -> Result
    ) rethrows -> Result? {
        try messages.withRow(of: section, at: place, names, rules, body)
    }
}

extension LogState {
    /// O(messages) if messages are included.
    package func channels(_ options: DocumentOptions) -> [StateChannel] {
        let listed = sources.sorted { $0.name < $1.name }.map { ListedChannels($0, options, asOf: asOf(options)) }
        return [Section.channels, .messages, .deletedMessages].filter(options.includes).flatMap { section in
            listed.flatMap { $0.channels(first: section, options) }
        }
    }
}

/// The channels of one source.
private struct ListedChannels {
    private let source: SourceState
    private let reader: MessageReader
    private let places: GroupedPlaces?
    private let groups: [EntityID: GroupedPlaces.Channel]
    /// The channels with a row.
    private let rows: [(id: EntityID, row: JSONValue)]
    private let known: Set<EntityID>

    init(_ source: SourceState, _ options: DocumentOptions, asOf: Timestamp) {
        let (channels, context) = (source.parts.channels, source.rowContext(asOf: asOf))
        self.source = source
        reader = MessageReader(source)
        let needsMessages = options.includes(.messages) || options.includes(.deletedMessages)
        places = needsMessages ? GroupedPlaces(source.parts.messages, source.context.names) : nil
        groups = Dictionary(uniqueKeysWithValues: (places?.channels ?? []).map { ($0.id, $0) })
        let keys = options.includes(.channels) ? channels.keys(in: .channels, names: source.context.names) : []
        rows = keys.compactMap { key in
            channels.row(for: key, context: context).map { (key.first, source.withSource($0)) }
        }
        known = Set(rows.map(\.id))
    }

    /// The channels that come into the list with a section.
    func channels(first section: Section, _ options: DocumentOptions) -> [StateChannel] {
        if section == .channels { return rows.map { channel($0.id, $0.row, options) } }
        return (places?.channels ?? []).filter { group in
            if known.contains(group.id) || places?.places(in: section, of: group).isEmpty ?? true { return false }
            let isListed = section == .deletedMessages && options.includes(.messages)
            return !isListed || places?.places(in: .messages, of: group).isEmpty ?? true
        }.map { channel($0.id, nil, options) }
    }

    private func channel(_ id: EntityID, _ row: JSONValue?, _ options: DocumentOptions) -> StateChannel {
        func list(_ section: Section) -> ArraySlice<Int> {
            guard options.includes(section), let places, let group = groups[id] else { return [] }
            return places.places(in: section, of: group)
        }
        return StateChannel(id, row, live: list(.messages), deleted: list(.deletedMessages), reader)
    }
}
