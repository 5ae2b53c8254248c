import EventLog

/// The rows of messages in canonical form, for digests and for documents.
extension Messages {
    /// The place of the message that a row key names.
    func place(of key: EntityKey) -> Int? {
        store.place(of: MessageKey(channel: key.first, id: key.second))
    }

    /// Whether the remote's own list orders the channel of the message at a place; see `statedOrder`.
    func isInListedChannel(messageAt place: Int) -> Bool {
        let channel = store.channels[Int(store.cells[place].channel)]
        guard channel.first > 0 else { return false }
        // The usual case, without a search: the channel's first message is packed, so ids order the channel.
        let cell = store.cells[Int(channel.first) - 1]
        if cell.form == .packed, store.version(of: cell) != nil { return false }
        guard let order = store.firstOrder(in: channel.id), case .at = order else { return false }
        return true
    }

    /// Writes the row of the message at a place in canonical form; false, without writing, if it has none in this
    /// section.
    ///
    /// - Parameter source: As in `LentMessage.write`.
    @inline(__always)
    func writeRow(
        of section: Section,
        at place: Int,
        source: [UInt8]? = nil,
        to writer: inout CanonicalWriter,
        _ names: Names,
        _ rules: ReadingRules
    ) -> Bool {
        withRow(of: section, at: place, names, rules) { $0.write(to: &writer, source: source) } != nil
    }
}
