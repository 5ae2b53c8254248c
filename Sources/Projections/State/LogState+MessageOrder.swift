import EventLog

extension LogState {
    /// A text whose UTF-8 bytes sort as the messages of its channel do in the remote's order; `nil` for what is no live message of
    /// the state.
    package func order(of entity: EntityReference) -> String? {
        guard entity.kind == .message, entity.parts.count == 3,
            let source = sources.first(where: { $0.name.rawValue == entity.parts[0] })
        else { return nil }
        let (names, messages) = (source.context.names, source.parts.messages)
        guard let channel = names.find(entity.parts[1]), let id = names.find(entity.parts[2]),
            let place = messages.store.place(of: MessageKey(channel: channel, id: id)),
            messages.state(at: place) == .live
        else { return nil }
        return messages.orderedMessage(at: place).text(names)
    }
}
