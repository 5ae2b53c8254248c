/// Which messages may be live in channels that were emptied: those that became known, live again or part of the channel since.
///
/// Without it, a channel that is emptied again and again would cost a look at every message that it ever had each time.
/// Not saved: the first emptying after a load looks at all.
struct EmptiedChannels: Sendable {
    private struct Emptied {
        /// The place of the channel's newest message then, counted from 1.
        var newest: UInt32
        /// The messages that became live since, or came from another channel; those that became known since may be among them.
        var changed: [Int] = []
    }

    private var channels: [UInt32: Emptied] = [:]

    /// Notes that no message of a channel is live.
    mutating func note(_ channel: UInt32, newest: UInt32) { channels[channel] = Emptied(newest: newest) }

    /// Notes that a message of a channel is live, or came from another one.
    mutating func note(_ place: Int, in channel: UInt32) {
        guard !channels.isEmpty else { return }
        channels[channel]?.changed.append(place)
    }

    /// The place, counted from 1, of the message of a channel that was its newest when it was emptied, and the messages that may
    /// be live beside those that became known later; `nil` if it was not emptied.
    func since(_ channel: UInt32) -> (newest: UInt32, changed: [Int])? {
        channels[channel].map { ($0.newest, $0.changed) }
    }
}
