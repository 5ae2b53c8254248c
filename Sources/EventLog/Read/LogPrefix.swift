/// The events of a log up to a sequence, told from those of any other log by a hash.
///
/// Whatever is derived from the events (I17) is stored with the prefix that it was made of, and is valid for each log that
/// begins with it and for no other: kept states, the index of channels, the summary and the runs of keys.
package struct LogPrefix: Equatable, Sendable {
    /// No events.
    static let empty = LogPrefix(sequence: 0, hash: .zero)

    /// The last event; 0 for none.
    package let sequence: UInt64
    /// As `ReadSession.prefixHash`.
    package let hash: Hash256

    package init(sequence: UInt64, hash: Hash256) {
        (self.sequence, self.hash) = (sequence, hash)
    }
}

extension LogReader {
    /// The first `last` events. Costs a tenth of the root.
    func prefix(through last: UInt64) throws -> LogPrefix {
        LogPrefix(sequence: last, hash: try prefixHash(through: last))
    }

    /// Whether the log has these events.
    func begins(with prefix: LogPrefix) throws -> Bool {
        guard prefix.sequence <= (try head()) else { return false }
        return try prefixHash(through: prefix.sequence) == prefix.hash
    }
}

extension ReadSession {
    /// The events up to a sequence; costs as `prefixHash`.
    ///
    /// - Throws: `EventLogError` with code `notFound` beyond the head.
    package func prefix(through sequence: SequenceNumber) throws -> LogPrefix {
        LogPrefix(sequence: sequence.rawValue, hash: try prefixHash(through: sequence))
    }

    /// Whether the session sees these events; false too if the log cannot be read there.
    package func begins(with prefix: LogPrefix) -> Bool {
        prefix.sequence <= head.rawValue && (try? prefixHash(through: SequenceNumber(prefix.sequence))) == prefix.hash
    }
}
