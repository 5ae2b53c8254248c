extension Duration {
    /// Cut off towards zero, and held within 64 bits.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        if overflow || carry { return seconds < 0 ? .min : .max }
        return sum
    }
}
