public import EventLog

/// What one transaction changed in a cache.
public struct CacheBatch: Sendable {
    /// One table with new rows.
    public struct Table: Sendable {
        /// The table's name.
        public let name: String
        /// The members that identify the things whose rows were written, once for each list; `nil` where all rows were written.
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

/// What went wrong with a cache: while doing what, on what, why, and what to do next.
public struct CacheError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: Hashable, Sendable {
        /// Another process builds the same cache.
        case locked
    }

    /// What kind of trouble it is.
    public let code: Code
    /// Operation and object, what is wrong, what next.
    public let description: String
}
