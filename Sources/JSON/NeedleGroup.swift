/// Some of the needles of a `TokenSearch`, with the steps in which they are searched.
///
/// Owns the needles. A place that may end a window is looked up by the last bytes of the window, so that the time does
/// not grow with the number of needles.
struct NeedleGroup: Sendable {
    /// By bucket, in each the longest first: of two that begin at one place the longer one is replaced.
    private let needles: [[UInt8]]
    /// The index of the first needle of each bucket, and the number of needles at the end.
    private let starts: [Int32]
    private let shortest: Int
    /// By the hash of two neighbouring bytes: how far the search may go on if they end a window of `shortest` bytes.
    private let steps: [UInt8]
    private let bucketMask: UInt32

    /// The longest step; longer needles are compared in full only where their beginning fits.
    private static let shortestMax = 128

    /// - Parameter needles: different ones, each of two bytes or more, in any order.
    init(_ needles: [[UInt8]]) {
        let shortest = min(needles.lazy.map(\.count).min() ?? 2, Self.shortestMax)
        var steps = [UInt8](repeating: UInt8(shortest - 1), count: 1 << 12)
        for needle in needles {
            for end in 1..<shortest {
                let hash = Self.hash(needle[end - 1], needle[end])
                steps[hash] = min(steps[hash], UInt8(shortest - 1 - end))
            }
        }
        var bucketCount = 64
        while bucketCount < needles.count * 2, bucketCount < 1 << 22 { bucketCount *= 2 }
        let mask = UInt32(bucketCount - 1)
        let placed = needles.map { needle in
            (bucket: needle.withUnsafeBytes { Self.bucket($0, endingAt: shortest - 1, shortest, mask) }, needle: needle)
        }
        let sorted = placed.sorted { ($0.bucket, -$0.needle.count) < ($1.bucket, -$1.needle.count) }
        var starts = [Int32](repeating: 0, count: bucketCount + 1)
        for entry in sorted { starts[entry.bucket + 1] += 1 }
        for bucket in 0..<bucketCount { starts[bucket + 1] += starts[bucket] }
        (self.needles, self.starts, self.shortest, self.steps) = (sorted.map(\.needle), starts, shortest, steps)
        bucketMask = mask
    }

    var isEmpty: Bool { needles.isEmpty }

    /// The first place of a needle at or after `start`.
    func next(in bytes: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
        if needles.isEmpty { return nil }
        return steps.withUnsafeBufferPointer { steps in
            var end = start + shortest - 1
            while end < bytes.count {
                let step = steps[Self.hash(bytes[end - 1], bytes[end])]
                if step > 0 {
                    end += Int(step)
                } else if let place = needle(in: bytes, endingAt: end) {
                    return place
                } else {
                    end += 1
                }
            }
            return nil
        }
    }

    /// The longest needle whose window of `shortest` bytes ends at a place.
    private func needle(in bytes: UnsafeRawBufferPointer, endingAt end: Int) -> Range<Int>? {
        let bucket = Self.bucket(bytes, endingAt: end, shortest, bucketMask)
        let start = end - shortest + 1
        for index in Int(starts[bucket])..<Int(starts[bucket + 1]) {
            let needle = needles[index]
            guard needle.count <= bytes.count - start, needle[0] == bytes[start] else { continue }
            if bytes[start..<start + needle.count].elementsEqual(needle) { return start..<start + needle.count }
        }
        return nil
    }

    @inline(__always)
    private static func hash(_ first: UInt8, _ second: UInt8) -> Int { (Int(first) << 4 ^ Int(second)) & 0xFFF }

    /// The bucket of a window by its last bytes, at most eight of them.
    @inline(__always)
    private static func bucket(
        _ bytes: UnsafeRawBufferPointer,
        endingAt end: Int,
        _ shortest: Int,
        _ mask: UInt32
    ) -> Int {
        var hash: UInt32 = 2_166_136_261
        for place in (end - min(shortest, 8) + 1)...end { hash = (hash ^ UInt32(bytes[place])) &* 16_777_619 }
        return Int((hash ^ hash >> 15) & mask)
    }
}
