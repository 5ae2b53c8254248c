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
    fileprivate let place: Place

    fileprivate struct Place: Hashable {
        let source: Int
        let channel: EntityID
    }
}

extension LogState {
    /// The channels of a document: those with rows in its order, then the others with live messages, then the others
    /// with deleted ones. Within each group by source, then in the section's order. O(messages) if messages are
    /// included.
    package func channels(_ options: DocumentOptions) -> [StateChannel] {
        let sorted = sources.indices.sorted { sources[$0].name < sources[$1].name }
        var channels: [StateChannel] = []
        var known: Set<StateChannel.Place> = []
        for section in [Section.channels, .messages, .deletedMessages] where options.includes(section) {
            for index in sorted {
                channels += sources[index].channels(in: section, index, asOf(options)).filter {
                    known.insert($0.place).inserted
                }
            }
        }
        return channels
    }

    /// The rows of a section of messages that are about one channel, in the document's order; none if the options leave
    /// the section out.
    package func rows(
        in section: Section,
        of channel: StateChannel,
        _ options: DocumentOptions
    ) -> [JSONValue] {
        guard options.includes(section) else { return [] }
        let source = sources[channel.place.source]
        let (messages, context) = (source.parts.messages, source.rowContext(asOf: asOf(options)))
        return messages.places(in: section, of: channel.place.channel, source.context.names).compactMap { place in
            let key = EntityKey(section, channel.place.channel, messages.store.cells[place].id)
            return messages.row(for: key, context: context).map(source.withSource)
        }
    }
}

extension DocumentOptions {
    /// Whether the document has a section.
    func includes(_ section: Section) -> Bool { sections?.contains(section) ?? true }
}

extension SourceState {
    /// The channels with rows in a section, in the document's order.
    fileprivate func channels(in section: Section, _ index: Int, _ asOf: Timestamp) -> [StateChannel] {
        let names = context.names
        guard section.isOfMessages else {
            let rowContext = rowContext(asOf: asOf)
            return parts.channels.keys(in: section, names: names).compactMap { key in
                parts.channels.row(for: key, context: rowContext).map {
                    stateChannel(key.first, row: withSource($0), index)
                }
            }
        }
        let wanted = section == .messages ? Messages.State.live : .deleted
        return parts.messages.channels(names).filter { !parts.messages.places(in: $0, being: wanted).isEmpty }
            .map { stateChannel($0, row: nil, index) }
    }

    /// A channel of this source; `index` is that of the source.
    private func stateChannel(_ channel: EntityID, row: JSONValue?, _ index: Int) -> StateChannel {
        StateChannel(
            source: name.rawValue,
            id: context.names.text(channel),
            row: row,
            place: StateChannel.Place(source: index, channel: channel)
        )
    }
}
