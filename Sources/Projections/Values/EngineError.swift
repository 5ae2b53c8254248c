/// An error of a playback, a reduction or a cache: what was wanted, what is wrong, and what to do next.
public struct EngineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error; scripts get their exit code from it.
    public enum Code: Hashable, Sendable {
        /// An input is unusable, or the environment refuses.
        case trouble
        /// The answer is no: nothing fits what was asked for.
        case no
        /// Something exists that may not be replaced.
        case refused
        /// Somebody else works on the same file.
        case locked
    }

    /// The kind of error.
    public let code: Code
    /// The operation and its object, what is wrong, and what to do next; lower case, without a full stop.
    public let description: String

    /// Makes an error.
    public init(_ description: String, code: Code = .trouble) {
        self.code = code
        self.description = description
    }
}
