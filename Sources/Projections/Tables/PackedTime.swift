import EventLog

/// An optional instant in one word: nanoseconds since 1970 (UTC), within the years 1700 to 2199. None is
/// less than every instant, as an absent version is the least version.
struct PackedTime: BitwiseCopyable, Hashable, Sendable {
    /// All instants of these years fit 64 bits.
    static let years: ClosedRange<Int64> = 1700...2199
    static let none = PackedTime(rawValue: .min)

    /// `Int64.min` for none.
    let rawValue: Int64

    private init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The instant whose `rawValue` was saved. Any number is valid, also outside of `years`.
    init(saved rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Makes an instant, which must be in `years`.
    @inline(__always)
    init(seconds: Int64, nanoseconds: Int64) {
        assert(nanoseconds >= 0 && nanoseconds < 1_000_000_000, "nanoseconds make less than a second")
        rawValue = seconds &* 1_000_000_000 &+ nanoseconds
    }

    /// The instant; `nil` for none.
    var timestamp: Timestamp? {
        guard self != .none else { return nil }
        let (seconds, rest) = rawValue.quotientAndRemainder(dividingBy: 1_000_000_000)
        // Division rounds towards zero, but a `Timestamp` has no negative nanoseconds.
        return rest < 0
            ? Timestamp(seconds: seconds - 1, nanoseconds: UInt32(rest + 1_000_000_000))
            : Timestamp(seconds: seconds, nanoseconds: UInt32(rest))
    }
}

extension PackedTime: Comparable {
    @inline(__always)
    static func < (left: PackedTime, right: PackedTime) -> Bool { left.rawValue < right.rawValue }
}
