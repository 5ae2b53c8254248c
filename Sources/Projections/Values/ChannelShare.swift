/// A share of all channels: those whose hashes lie in a range. Shares whose ranges follow one another have each channel
/// once.
///
/// A compaction folds a log once for each share, so that it holds the messages of one share at a time. The hash is that
/// of the channel's handle, which is the same in every fold of the same events.
struct ChannelShare: Hashable, Sendable {
    /// All channels.
    static let whole = ChannelShare(hashes: 0..<1 << 32)

    /// Never empty.
    let hashes: Range<UInt64>

    @inline(__always)
    func contains(_ channel: EntityID) -> Bool {
        hashes.contains(Self.hash(of: channel))
    }

    /// Below 2^32.
    @inline(__always)
    static func hash(of channel: EntityID) -> UInt64 { FastHash.mix(channel.rawValue, 0) >> 32 }

    /// A part of all hashes, from 1 to 255: so many channels that a byte can name them.
    static func bucket(of channel: EntityID) -> UInt8 { UInt8(truncatingIfNeeded: (hash(of: channel) * 255) >> 32) + 1 }

    /// Whether the share may contain channels of a bucket.
    func meets(bucket: UInt8) -> Bool {
        assert(bucket > 0, "the first bucket is 1")
        // The bucket's hashes are those for which `(hash * 255) >> 32` is one less.
        let start = (UInt64(bucket - 1) << 32) / 255
        let end = (UInt64(bucket) << 32) / 255 + 1
        return hashes.overlaps(start..<end)
    }

    /// Divides the share so that each part has few messages: at least two parts if several hashes are given.
    ///
    /// - Parameters:
    ///   - counts: The messages of the channels with each hash: distinct hashes of this share, ascending.
    ///   - countMax: The most messages of a part. Only a part with one hash has more.
    func parts(_ counts: [(hash: UInt64, count: Int)], countMax: Int) -> [ChannelShare] {
        let total = counts.reduce(0) { $0 + $1.count }
        // As many parts as necessary, with as many messages each.
        let number = max(2, (total + countMax - 1) / max(1, countMax))
        let wanted = (total + number - 1) / number
        var parts: [ChannelShare] = []
        var (start, sum) = (hashes.lowerBound, 0)
        for (hash, count) in counts {
            if sum > 0, sum + count > wanted {
                parts.append(ChannelShare(hashes: start..<hash))
                (start, sum) = (hash, 0)
            }
            sum += count
        }
        return parts + [ChannelShare(hashes: start..<hashes.upperBound)]
    }
}
