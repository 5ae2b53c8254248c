extension Duration {
    /// The duration in whole milliseconds, rounded towards zero and clamped to 64 bits.
    package var wholeMilliseconds: Int64 {
        if self >= .milliseconds(Int64.max) { return .max }
        if self <= .milliseconds(Int64.min) { return .min }
        return components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
