/// Keeps zeros after the last page of a log that grows by small commits.
///
/// A commit that makes the data file longer also waits for the file system's journal, which takes up to half as long
/// again. A commit into bytes that were written before does not. Readers ignore the file's length: the meta pages name
/// the last page.
struct FileReserve {
    /// The zeros of one reserve, in bytes.
    private static let byteCount = 256 << 10
    /// A commit that adds more pages than this spends its time on them, not on the journal.
    private static let smallPagesMax: UInt64 = 16
    /// How many small commits must lengthen the file before the first reserve: a log that is rarely written gets none.
    private static let smallGrowthsMin = 16

    /// The last page in use after the latest commit; 0 before the first one, which therefore counts as large.
    private var lastPage: UInt64 = 0
    /// Small commits that have lengthened the file since it was opened, or since a reserve failed.
    private var smallGrowths = 0

    /// Notes a commit; the caller holds the write lock. If no reserve can be made, as on a full disk, the next commits
    /// are only slower.
    mutating func committed(_ environment: Environment) {
        guard let page = try? environment.information().lastPage else { return }
        let growth = page - min(lastPage, page)
        lastPage = page
        guard (1...Self.smallPagesMax).contains(growth) else { return }
        smallGrowths += 1
        guard smallGrowths >= Self.smallGrowthsMin else { return }
        // The next small commit must fit as well, hence `smallPagesMax` more pages.
        let isReserved = environment.reserve(pages: page + 1 + Self.smallPagesMax, step: Self.byteCount)
        if !isReserved { smallGrowths = 0 }
    }
}
