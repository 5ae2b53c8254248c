/// The speed of a playback.
public enum PlaySpeed: Hashable, Sendable {
    /// A multiple of the recorded speed, from 0.001 to 1,000,000.
    case times(Double)
    /// As fast as the client reads.
    case max
}
