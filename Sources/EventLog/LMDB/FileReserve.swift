/// Keeps zeros behind the last page of a log that grows by small commits.
///
/// A commit that makes the data file longer is durable only once the journal of the file system is, too, which takes up
/// to half as long again. One that writes where something was written before needs no journal. Readers do not care how long
/// the file is: its meta pages say which page is the last.
struct FileReserve {
    private static let byteCount = 256 << 10
    /// A commit that adds more pages than this takes its time for them, not for the journal.
    private static let smallPagesMax: UInt64 = 16
    /// A log that is written to once in a while gets no reserve.
    private static let smallGrowthsMin = 16

    private var lastPage: UInt64 = 0
    private var smallGrowths = 0

    /// Notes a commit, under the write lock. Where no reserve can be made, as on a full disk, the next commits are slower
    /// and nothing else.
    mutating func committed(_ environment: Environment) {
        guard let page = try? environment.information().lastPage else { return }
        let growth = page - min(lastPage, page)
        lastPage = page
        guard (1...Self.smallPagesMax).contains(growth) else { return }
        smallGrowths += 1
        guard smallGrowths >= Self.smallGrowthsMin else { return }
        let isReserved = environment.reserve(pages: page + 1 + Self.smallPagesMax, step: Self.byteCount)
        if !isReserved { smallGrowths = 0 }
    }
}
