import ArgumentParser

/// The speed of a playback.
enum PlaySpeed: Hashable, Sendable {
    /// A multiple of the recorded speed.
    case times(Double)
    /// As fast as the client reads.
    case max

    /// Reads `max`, or a factor from 0.001 to 1,000,000.
    static func parse(_ text: String) throws -> PlaySpeed {
        if text == "max" { return .max }
        guard let factor = Double(text), factor >= 0.001, factor <= 1_000_000 else {
            throw ValidationError("--speed is a number such as 1 or 20, or max")
        }
        return .times(factor)
    }
}
