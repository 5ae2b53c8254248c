import EventLog

/// Finds the events of one session that contain a text. A class, because it remembers the lanes that do.
final class EventMatch {
    private let text: TextMatch?
    /// Whether an attribute's value contains the text, by number of the event's lane.
    private var lanes: [UInt32: Bool] = [:]
    /// The answer for the last lane, which is mostly that of the next event.
    private var last: (lane: UInt32, isFound: Bool)?

    /// - Parameter text: `nil` is in every event.
    init(_ text: TextMatch?) {
        self.text = text
    }

    /// True if the payload, the key or an attribute's value contains the text. JSON payloads match across escapes. An altered
    /// event may match.
    func isMatch(_ event: borrowing EventView) -> Bool {
        guard let text else { return true }
        return event.withPayload { text.isFound(in: $0) } || event.hasKey { text.isFound(inText: $0) }
            || hasAttribute(event, text)
    }

    private func hasAttribute(_ event: borrowing EventView, _ text: TextMatch) -> Bool {
        let lane = event.laneNumber
        if let last, last.lane == lane { return last.isFound }
        let isFound = lanes[lane] ?? event.attributes.pairs.contains { text.range(in: $0.value) != nil }
        lanes[lane] = isFound
        last = (lane, isFound)
        return isFound
    }
}
