/// The place of an event in a log's one total order: 1, 2, 3, … (I1).
///
/// A sequence is given at append, never reused and never changed. `zero` is the place before the first event.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The number itself; 0 is before the first event.
    public let rawValue: UInt64

    /// Makes the sequence number with the given value.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Makes the sequence number with the given value.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The place before the first event: the head of an empty log.
    public static let zero = SequenceNumber(0)

    /// The place of the next event. Traps at the end of 64 bits.
    public var next: SequenceNumber { SequenceNumber(rawValue + 1) }

    /// Orders by place in the log, the earlier first.
    public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension SequenceNumber: CustomStringConvertible {
    /// The text that people and scripts read.
    public var description: String { String(rawValue) }
}
