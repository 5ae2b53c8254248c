/// A hash that is equal for repeats of one change of a row, under the log's key (`FrameKey`): the remote cannot make up two
/// changes with one hash. Means nothing under another key.
struct ChangeIdentity: Codable, Hashable, Sendable, BitwiseCopyable {
    /// Two words instead of one number, which would be aligned to 16 bytes.
    private let high: UInt64
    private let low: UInt64

    init(_ hash: UInt128) {
        high = UInt64(truncatingIfNeeded: hash >> 64)
        low = UInt64(truncatingIfNeeded: hash)
    }

    /// Feeds the lower word alone: under the log's key it differs as the whole does.
    func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// The number in decimal digits, for normal forms.
    var normalForm: JSONValue { .string(String(UInt128(high) << 64 | UInt128(low))) }
}
