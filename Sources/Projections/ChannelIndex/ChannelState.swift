public import EventLog

/// The state of one channel at one point: the rows of a state document that are about it. Equal to those of the whole
/// state, whichever of the two it was made from (I21).
public struct ChannelState: Sendable {
    /// The sections of a state document whose rows can be about one channel.
    public static let sections: [Section] = [
        .channels, .messages, .deletedMessages, .typing, .voiceStates, .readStates,
    ]

    /// The channel's full name.
    public let reference: EntityReference
    /// The last event in the state.
    public let sequence: SequenceNumber
    /// The greatest `recordedAt` of the remote changes up to there.
    public let clock: Timestamp?
    /// The state of the source, whole or right only for this channel. So only rows about `channel` may be read.
    private let source: SourceState
    private let channel: EntityID

    /// The channels with rows in a state that a reference can mean, sorted by source.
    static func find(_ reference: EntityReference, in logState: LogState) -> [ChannelState] {
        reference.channels(of: logState.sources.map(\.name)).compactMap { place, id in
            ChannelState(id, of: logState.sources[place], sequence: logState.sequence, clock: logState.clock)
        }
    }

    /// `nil` if the state has no row about the channel.
    ///
    /// - Parameter clock: the clock of the whole state, which a state of one channel does not know.
    init?(_ id: String, of source: SourceState, sequence: SequenceNumber, clock: Timestamp?) {
        guard let channel = source.context.names.find(id) else { return nil }
        reference = EntityReference(kind: .channel, parts: [source.name.rawValue, id])
        self.sequence = sequence
        self.clock = clock
        self.source = source
        self.channel = channel
        guard Self.sections.contains(where: { !keys(in: $0).isEmpty }) else { return nil }
    }

    /// The rows in the form of a state document, without `digest`, which only a whole state has.
    public func document(_ options: DocumentOptions = DocumentOptions()) -> JSONValue {
        var state = self
        return state.documentValue(options)
    }

    /// Writes the document in the form of `logtool replay --json`: one member per line, arrays with one canonical
    /// element per line.
    ///
    /// The calling thread calls `body` with the pieces in order, while other threads make the next ones. The bytes are
    /// valid only during the call. Cost: O(n log n) in the channel's messages; packed ones cost no allocation.
    public func writeLines(
        _ options: DocumentOptions = DocumentOptions(),
        to body: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var state = self
        try state.writeDocument(options, to: body)
    }
}

// MARK: - Rows

extension ChannelState: DocumentState {
    package func documentHeader(_ options: DocumentOptions) -> JSONObject {
        [
            "format": .string("eventlog.state/1"),
            "sequence": .string(sequence.description),
            "asOf": .string(asOf(options).description),
            "profile": .string(options.reading),
            "channel": .string(reference.description),
        ]
    }

    package func forEachRow(in section: Section, asOf: Timestamp, _ body: (JSONValue) throws -> Void) rethrows {
        for key in keys(in: section) { if let row = row(for: key, asOf: asOf) { try body(row) } }
    }

    /// One channel; none if only users are in it.
    package func channels(_ options: DocumentOptions) -> [StateChannel] {
        func listed(_ section: Section) -> [Int] { options.includes(section) ? places(in: section) : [] }
        let (live, deleted) = (listed(.messages), listed(.deletedMessages))
        let key = options.includes(.channels) ? keys(in: .channels).first : nil
        let row = key.flatMap { self.row(for: $0, asOf: asOf(options)) }
        if row == nil, live.isEmpty, deleted.isEmpty { return [] }
        return [StateChannel(channel, of: source, row, live: live, deleted: deleted)]
    }

    private func row(for key: EntityKey, asOf: Timestamp) -> JSONValue? {
        source.fold(for: key.section)?.row(for: key, context: source.rowContext(asOf: asOf)).map(source.withSource)
    }

    /// The keys of the rows, in the document's order.
    private func keys(in section: Section) -> [EntityKey] {
        switch section {
        case .messages, .deletedMessages:
            places(in: section).map { EntityKey(section, channel, source.parts.messages.store.cells[$0].id) }
        case .channels: source.parts.channels.isLive(channel) ? [EntityKey(.channels, channel)] : []
        case .voiceStates: source.parts.community.voices(in: channel, source.context.names)
        case .typing, .readStates:
            source.parts.community.keys(in: section, names: source.context.names).filter { $0.first == channel }
        default: []
        }
    }

    /// The rows of messages with these ids, in the document's order.
    ///
    /// Cost: puts the channel's messages in order; makes no other row.
    ///
    /// - Parameter andLater: whether all behind the first of them come, too; without ids, all.
    fileprivate func rows(of section: Section, ids: [String], andLater: Bool) -> [JSONValue] {
        let (names, cells) = (source.context.names, source.parts.messages.store.cells)
        var wanted: Set<EntityID> = []
        for id in ids { if let known = names.find(id) { wanted.insert(known) } }
        let places = places(in: section)
        let chosen: ArraySlice<Int>
        if andLater {
            let first = ids.isEmpty ? places.startIndex : places.firstIndex { wanted.contains(cells[$0].id) }
            chosen = places[(first ?? places.endIndex)...]
        } else {
            chosen = places.filter { wanted.contains(cells[$0].id) }[...]
        }
        let asOf = clock ?? Timestamp(seconds: 0)
        return chosen.compactMap { row(for: EntityKey(section, channel, cells[$0].id), asOf: asOf) }
    }

    /// The places of the messages that have a row, in the document's order.
    private func places(in section: Section) -> [Int] {
        source.parts.messages.places(in: section, of: channel, source.context.names)
    }

    package func writeRows(in section: Section, asOf: Timestamp, to lines: inout DocumentLines) throws {
        if section.isOfMessages {
            try source.writeRows(of: section, messagesAt: places(in: section), to: &lines)
        } else {
            try source.writeRows(of: keys(in: section), asOf: asOf, to: &lines)
        }
    }
}

extension LogState {
    /// The rows of a channel's messages with these ids, live or deleted, in the document's order. If channels of several sources
    /// fit, the first source counts.
    ///
    /// Cost: as `ChannelState.rows(of:ids:andLater:)`.
    ///
    /// - Parameter andLater: whether all behind the first of them come, too; without ids, all.
    package func messageRows(
        of channel: EntityReference,
        in section: Section,
        ids: [String],
        andLater: Bool
    ) -> [JSONValue] {
        assert(section.isOfMessages, "other rows of a channel are no messages")
        return ChannelState.find(channel, in: self).first?.rows(of: section, ids: ids, andLater: andLater) ?? []
    }
}

extension Community {
    /// The keys of the users that are in a voice channel.
    fileprivate func voices(in channel: EntityID, _ names: Names) -> [EntityKey] {
        keys(in: .voiceStates, names: names).filter { registers[$0]?.value?.voiceChannel == channel }
    }
}

extension EntityReference {
    /// The channels that the reference can mean, by the index of their source, sorted by the source's name; none for a
    /// reference of another kind. A text that begins with a source's name and a slash means only that source. Other
    /// texts are ids, slashes included, and may be a channel of any source.
    func channels(of sources: [SourceName]) -> [(source: Int, id: String)] {
        guard kind == .channel else { return [] }
        let text = parts.joined(separator: "/")
        let inOrder = sources.indices.sorted { sources[$0] < sources[$1] }
        let full = inOrder.compactMap { place -> (source: Int, id: String)? in
            let prefix = sources[place].rawValue + "/"
            guard text.utf8.starts(with: prefix.utf8) else { return nil }
            return (place, String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
        }
        return full.isEmpty ? inOrder.map { ($0, text) } : full
    }
}
