/// The messages of a server that are in another channel than the one in which they became known. No server moves messages:
/// the frames of one that does, or of a hostile one, name two channels with one id.
///
/// A channel links the messages that became known in it, and a message keeps that link. So whoever walks over a channel
/// passes over those that left it, and adds those that arrived.
struct RehomedMessages: Sendable {
    /// The channel in which each message became known, by its place.
    private var origins: [Int: UInt32] = [:]
    /// The messages that ever arrived in each channel, the channel in which they became known left out.
    private var arrivals: [UInt32: Set<Int>] = [:]

    init() {}

    var isEmpty: Bool { origins.isEmpty }

    /// Notes that a message leaves one channel for another.
    mutating func note(_ place: Int, from: UInt32, to: UInt32) {
        let origin = origins[place] ?? from
        origins[place] = origin
        if to != origin { arrivals[to, default: []].insert(place) }
    }

    /// The messages that ever arrived in a channel, in any order.
    func places(arrivedIn channel: UInt32) -> Set<Int> { arrivals[channel] ?? [] }

    /// Whether a message ever arrived in a channel.
    func isArrival(_ channel: UInt32) -> Bool { arrivals[channel] != nil }
}
