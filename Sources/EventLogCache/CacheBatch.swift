public import EventLog

/// What one transaction changed in a cache.
public struct CacheBatch: Sendable {
    /// One table with new rows.
    public struct Table: Sendable {
        /// The table's name.
        public let name: String
        /// The members that identify the things whose rows changed, once for each list; `nil` if the cache was built anew.
        public let keys: [CacheRow]?
    }

    /// The last event that the cache holds.
    public let sequence: SequenceNumber
    /// The digest of the state that the cache holds: that of `logtool replay --digest --at SEQUENCE`.
    public let digest: String
    /// Whether the whole cache was built anew and swapped in.
    public let isRebuild: Bool
    /// The tables whose rows changed, by name.
    public let tables: [Table]
}

/// An error of a cache.
public struct CacheError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Code: Hashable, Sendable {
        /// Another process builds the same cache.
        case locked
    }

    /// The kind of error.
    public let code: Code
    /// The operation, its object, what is wrong, and what to do next.
    public let description: String
}
