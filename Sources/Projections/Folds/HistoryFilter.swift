package import JSON

/// What a search wants of a thing's history. It rules things out by what a state keeps of them, before their entries are
/// made, which costs most of a search. What it lets through need not fit.
public struct HistoryFilter: Sendable {
    /// A text that the fields before or after an entry must contain; `nil` for any fields.
    package var text: TextSearch?
    /// True for things that have an entry beside the first, which tells that they appeared.
    package var needsChange = false
    /// True for things that were deleted.
    package var needsEnd = false

    /// Makes a filter that rules nothing out.
    public init() {}
}

/// A thing whose history a filter does not rule out.
struct HistoryCandidate {
    let key: EntityKey
    /// The sequence of its newest entry; `nil` if that is not known without its entries, or a version among them came late.
    var newest: UInt64?
}
