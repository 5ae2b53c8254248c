/// Makes the sixteen salt bytes of each event. A log removes the salt with the payload, so nobody can guess a dropped
/// or redacted payload and test the guess against its leaf hash.
public struct SaltSource: Sendable {
    private let make: @Sendable (Int) -> [UInt8]

    /// The operating system's random bytes.
    public static let random = SaltSource { systemRandomBytes($0 * Record.saltBytes) }

    /// The same salt for every event. For tests: it hides nothing.
    public static func fixed(_ byte: UInt8) -> SaltSource {
        SaltSource { [UInt8](repeating: byte, count: $0 * Record.saltBytes) }
    }

    private init(_ make: @escaping @Sendable (Int) -> [UInt8]) {
        self.make = make
    }

    /// The salts of `count` events, one after another.
    func salts(_ count: Int) -> [UInt8] {
        make(count)
    }
}
