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
    ///
    /// - Parameter namesAuthors: whether rows of deleted messages have the member `authorName`, which is in no document for
    ///   scripts.
    public func document(
        _ options: DocumentOptions = DocumentOptions(),
        namesAuthors: Bool = false
    ) -> JSONValue {
        var document = JSONObject()
        for member in header(options) { document[member.name] = member.value }
        for section in Self.sections where options.includes(section) {
            var rows = rows(in: section, asOf: asOf(options))
            if namesAuthors, section == .deletedMessages { nameAuthors(of: &rows) }
            document[section.rawValue] = .array(rows)
        }
        return .object(document)
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
        var lines = DocumentLines(body)
        for member in header(options) { try lines.member(member.name, member.value.canonicalText) }
        for section in Self.sections where options.includes(section) {
            try lines.beginRows(section.rawValue)
            try writeRows(in: section, asOf: asOf(options), to: &lines)
            try lines.endRows()
        }
        try lines.end()
    }

    private func asOf(_ options: DocumentOptions) -> Timestamp { options.asOf ?? clock ?? Timestamp(seconds: 0) }

    private func header(_ options: DocumentOptions) -> [(name: String, value: JSONValue)] {
        [
            ("format", .string("eventlog.state/1")),
            ("sequence", .string(sequence.description)),
            ("asOf", .string(asOf(options).description)),
            ("profile", .string(options.readingName)),
            ("channel", .string(reference.description)),
        ]
    }
}

// MARK: - Rows

extension ChannelState {
    private func rows(in section: Section, asOf: Timestamp) -> [JSONValue] {
        keys(in: section).compactMap { row(for: $0, asOf: asOf) }
    }

    private func row(for key: EntityKey, asOf: Timestamp) -> JSONValue? {
        source.fold(for: key.section)?.row(for: key, context: source.rowContext(asOf: asOf)).map(source.withSource)
    }

    /// Adds the names of their authors to the rows of all deleted messages.
    private func nameAuthors(of rows: inout [JSONValue]) {
        let (messages, context) = (source.parts.messages, source.rowContext(asOf: nil))
        for (index, place) in zip(rows.indices, places(in: .deletedMessages)) {
            guard case .object(var row) = rows[index] else { continue }
            row["authorName"] = messages.withRow(of: .deletedMessages, at: place, context.names, context.rules) {
                $0.authorName.json
            }.flatMap { $0 }
            rows[index] = .object(row)
        }
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

    /// The places of the messages that have a row, in the document's order.
    private func places(in section: Section) -> [Int] {
        source.parts.messages.places(in: section, of: channel, source.context.names)
    }

    private func writeRows(in section: Section, asOf: Timestamp, to lines: inout DocumentLines) throws {
        if section.isOfMessages {
            try source.writeRows(of: section, messagesAt: places(in: section), to: &lines)
        } else {
            try source.writeRows(of: keys(in: section), asOf: asOf, to: &lines)
        }
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
