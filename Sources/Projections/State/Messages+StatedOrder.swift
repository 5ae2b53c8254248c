import EventLog

extension Messages {
    /// The ids of a channel's live messages in order, if the order is the remote's own list, which no row contains;
    /// `nil` for channels whose rows determine the order.
    ///
    /// Cost: O(n log n) for listed channels, whose every change carries the whole list anyway. For others O(1), unless
    /// many messages without a version come first.
    func statedOrder(in channel: EntityID, _ names: Names) -> [JSONValue]? {
        guard let known = store.firstOrder(in: channel), case .at = known else { return nil }
        return sortedLive(in: channel, names).map { .string(names.text($0.id)) }
    }
}
