import EventLog

/// What a digest needs to know of a message's row beside its bytes.
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
}
