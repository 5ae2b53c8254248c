/// What the files of one generation tell of how much it held, beside the entries that a scan finds: the meta pages with
/// the tables that they reach, the mark, and derived data (I20).
///
/// No checksum covers meta pages and the mark, so what they tell never decides what is salvaged: it says what may be
/// missing.
struct SalvageEvidence {
    /// Why more may be missing than the found entries show, in words.
    private(set) var doubts: [String] = []
    /// Entries by table in the newest state that can be reached; empty if it cannot.
    private(set) var counts: [String: UInt64] = [:]
    /// Whether all pages of the newest state are well-formed.
    private(set) var isWhole = false

    /// Reads what lies beside the entries of a generation.
    ///
    /// - Parameter head: the last sequence that the entries tell of.
    init(_ directory: LogDirectory, _ number: UInt32, folder: Folder, head: UInt64) throws {
        let file = try DataFile(in: folder)
        let byteCount = try file.byteCount()
        let metas = file.metaPages().compactMap { $0 }
        let newest = metas.max { $0.transaction < $1.transaction }
        if let newest { counts = Self.counts(file, newest) }
        isWhole = (try? PageCheck.run(file, isGrown: true)) != nil
        doubts += Self.doubts(ofMark: PageMark.claim(in: folder), newest, byteCount)
        doubts += Self.doubts(ofDerived: directory, number, head: head)
        if isWhole { return }
        doubts += Self.doubts(ofLength: byteCount, newest)
        guard newest != nil else { return }
        do {
            _ = try PageCheck.checkedMetas(file)
        } catch let damage as PageCheck.Damage {
            doubts.append("meta page \(damage.page) is damaged (\(damage.reason)), so a last commit may be missing")
        }
        if counts.isEmpty { doubts.append("the list of tables cannot be read, so nothing counts the events") }
    }

    /// The entries of each table of a state: the main tree names the tables in one leaf.
    private static func counts(_ file: DataFile, _ meta: MetaPage) -> [String: UInt64] {
        let reader = PageReader(file, pageBytes: meta.pageSize)
        guard meta.mainTree.depth == 1, meta.mainTree.root <= meta.lastPage,
            let bytes = reader.page(meta.mainTree.root)
        else { return [:] }
        let page = DataPage(bytes: bytes, number: meta.mainTree.root)
        guard page.hasOwnNumber, page.isLeaf, let nodes = try? page.nodes() else { return [:] }
        var counts: [String: UInt64] = [:]
        for node in nodes {
            guard let table = node.table, let name = String(validating: node.key, as: UTF8.self) else { continue }
            counts[name] = table.entries
        }
        return counts
    }

    private static func doubts(ofLength byteCount: UInt64, _ newest: MetaPage?) -> [String] {
        guard let newest else {
            let reason = byteCount == 0 ? "the data file is empty" : "no meta page can be read"
            return ["\(reason), so nothing counts the events"]
        }
        let expected = (newest.lastPage + 1) * newest.pageSize
        if byteCount >= expected { return [] }
        return ["the data file ends after \(byteCount) bytes, and its meta page tells of \(expected)"]
    }

    private static func doubts(
        ofMark mark: (byteCount: UInt64, transaction: UInt64)?,
        _ newest: MetaPage?,
        _ byteCount: UInt64
    ) -> [String] {
        guard let mark else { return [] }
        if let newest, mark.transaction > newest.transaction {
            let found = newest.transaction
            return ["the mark beside the data file tells of commit \(mark.transaction), the file of commit \(found)"]
        }
        // Bytes behind the last page mean nothing, so the length counts only where no meta page tells the last page.
        guard newest == nil, mark.byteCount > byteCount else { return [] }
        return ["the mark beside the data file tells of \(mark.byteCount) bytes, and \(byteCount) are there"]
    }

    /// Compares the last event that derived data covers. The data is only read, page by page, as the log itself is.
    private static func doubts(ofDerived directory: LogDirectory, _ number: UInt32, head: UInt64) -> [String] {
        let name = LogDirectory.cacheName(number)
        // Whatever cannot be read there tells nothing (I17).
        guard let cache = try? directory.folder.folder(name), let file = try? DataFile(in: cache),
            let scan = try? PageScan(file)
        else { return [] }
        var covered: UInt64 = 0
        scan.forEachEntry(progress: { _, _ in }) { key, value in
            // The list of the runs of keys: a table's number and `00`; its value begins with the last event covered.
            guard key.count == 5, key[4] == 0, value.count > 64 else { return }
            key.withUnsafeBytes { key in
                value.withUnsafeBytes { stored in
                    guard let value = DerivedTable.withoutSum(stored, key) else { return }
                    covered = max(covered, value.bigEndian(at: 0, as: UInt64.self) ?? 0)
                }
            }
        }
        return covered > head ? ["data that was derived from the log (\(name)) tells of event \(covered)"] : []
    }
}
