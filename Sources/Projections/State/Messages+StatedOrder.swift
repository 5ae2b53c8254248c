import EventLog

extension Messages {
    /// The ids of a channel's live messages in order, where that order is the remote's own list and so stands in no row;
    /// `nil` for channels whose rows decide the order themselves.
    ///
    /// Cost: O(1) for these; O(n log n) for the others, whose every change carries the whole list anyway.
    func statedOrder(in channel: EntityID, _ names: Names) -> [JSONValue]? {
        guard let known = store.firstOrder(in: channel), case .at = known else { return nil }
        return sortedLive(in: channel, names).map { .string(names.text($0.id)) }
    }
}
