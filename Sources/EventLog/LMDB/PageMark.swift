import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file `checked` beside a data file. It names the stamp and the transaction at which all pages of the data file
/// were known to be well-formed, because this program checked or wrote them (I24).
///
/// A mark from elsewhere proves nothing: it names the device, the inode and the nanosecond of the data file's last
/// change, and a copied file has others. A mark that another user owns is not read.
///
/// A committing process holds an exclusive `flock` on the mark while the data file and the mark disagree, and takes it
/// only if they agreed before. So a mark that disagrees while the lock is held means a commit under way. One that
/// disagrees while nobody holds the lock means that something else wrote to the file, or that a commit was cut off.
final class PageMark: Sendable {
    static let fileName = "checked"
    /// "pages1" and two zeros, as a number.
    private static let magic: UInt64 = 0x7061_6765_7331_0000
    private static let wordCount = 9
    /// How often `locks` tries, 50 µs apart. Other processes hold the lock for microseconds.
    private static let triesMax = 200

    private let descriptor: Int32
    /// False if this user may only read the mark. Commits then leave it as it is, and it no longer fits.
    private let isWritable: Bool
    /// A `flock` belongs to the descriptor, which all threads share; this mutex keeps them apart.
    private let turn = Mutex(())

    /// Opens the mark in a folder; makes an empty one if there is none and this user owns the folder. `nil` if it is
    /// not a regular file with one name that this user owns and nobody else may write.
    init?(in folder: Folder) {
        // `O_NONBLOCK`, because opening a FIFO in the place of the mark would wait for its other end.
        let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        var information = stat()
        let isOurs = fstat(folder.descriptor, &information) == 0 && information.st_uid == geteuid()
        var opened = openat(folder.descriptor, Self.fileName, O_RDWR | (isOurs ? O_CREAT : 0) | flags, 0o600)
        isWritable = opened >= 0
        if opened < 0 { opened = openat(folder.descriptor, Self.fileName, O_RDONLY | flags) }
        descriptor = opened
        guard opened >= 0 else { return nil }
        var file = stat()
        guard fstat(opened, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_mode & 0o022 == 0,
            file.st_uid == geteuid(), file.st_nlink == 1
        else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether all pages of the file are known to be well-formed: the mark matches the file, or a commit is under way
    /// that began when it did.
    func covers(_ file: DataFile) -> Bool {
        turn.withLock { _ in
            if isOf(file) { return true }
            guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK, let stamp = file.stamp(), let words = content() else { return false }
                // Somebody is committing, so length, times and transaction may differ; device and inode may not.
                return words[1] == stamp.device && words[2] == stamp.inode
            }
            defer { _ = flock(descriptor, LOCK_UN) }
            // Nobody is committing now. A commit may have ended since the first look, so compare once more.
            return isOf(file)
        }
    }

    /// Runs a commit or another change of the data file, and renews the mark if it matched the file before.
    ///
    /// - Parameters:
    ///   - former: The newest transaction in the file.
    ///   - next: The newest one if `change` succeeds.
    ///   - change: Returns its result, and whether it succeeded.
    func following<Result>(
        _ file: DataFile,
        from former: UInt64,
        to next: UInt64,
        _ change: () -> (result: Result, isDone: Bool)
    ) -> Result {
        turn.withLock { _ in
            // Without the lock the change is made all the same. The mark then no longer fits, and the next opening
            // checks all pages.
            guard isWritable, let before = file.stamp(), locks() else { return change().result }
            guard content() == Self.words(before, former) else {
                _ = flock(descriptor, LOCK_UN)
                return change().result
            }
            defer { _ = flock(descriptor, LOCK_UN) }
            let (result, isDone) = change()
            // A commit without changes writes nothing and leaves the stamp as it is.
            if isDone, let after = file.stamp(), after != before { write(Self.words(after, next)) }
            return result
        }
    }

    /// Notes that all pages of the file are well-formed.
    ///
    /// - Parameters:
    ///   - stamp: The file's stamp before its pages were checked.
    ///   - transaction: The state whose pages were checked. If the file was written to meanwhile, the mark is set only
    ///     if a newer transaction explains it.
    func set(_ file: DataFile, checkedAt stamp: FileStamp?, _ transaction: UInt64) {
        turn.withLock { _ in
            guard isWritable, let stamp, locks() else { return }
            defer { _ = flock(descriptor, LOCK_UN) }
            guard let now = file.stamp(), let newest = file.newestTransaction() else { return }
            if now == stamp || newest > transaction { write(Self.words(now, newest)) }
        }
    }

    /// Whether the mark names the file in its present state.
    private func isOf(_ file: DataFile) -> Bool {
        guard let stamp = file.stamp(), let words = content(), let transaction = file.newestTransaction() else {
            return false
        }
        return words == Self.words(stamp, transaction)
    }

    /// Takes the mark's exclusive lock, for at most some 10 ms; false if it stays taken.
    private func locks() -> Bool {
        for _ in 0..<Self.triesMax {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            pause(microseconds: 50)
        }
        return false
    }

    /// What the mark in a folder tells of its data file, whether or not it still fits; `nil` without a readable mark.
    /// Makes and locks nothing.
    static func claim(in folder: Folder) -> (byteCount: UInt64, transaction: UInt64)? {
        guard let bytes = try? folder.bytes(of: fileName), bytes.count == wordCount * 8 else { return nil }
        let words = bytes.withUnsafeBytes { bytes in
            (0..<wordCount).compactMap { bytes.bigEndian(at: $0 * 8, as: UInt64.self) }
        }
        guard words.count == wordCount, words[0] == magic else { return nil }
        return (words[3], words[8])
    }

    /// The content of a mark, in the order of `docs/format.md`.
    private static func words(_ stamp: FileStamp, _ transaction: UInt64) -> [UInt64] {
        [magic, stamp.device, stamp.inode, stamp.byteCount] + stamp.times + [transaction]
    }

    /// The nine numbers; `nil` if the mark is shorter, as one is that was just made.
    private func content() -> [UInt64]? {
        var words = [UInt64](repeating: 0, count: Self.wordCount)
        let count = words.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == Self.wordCount * 8 else { return nil }
        return words.map { UInt64(bigEndian: $0) }
    }

    /// Not synced: after a power loss there is an older mark or none, and the pages are checked again.
    private func write(_ words: [UInt64]) {
        assert(words.count == Self.wordCount, "a mark has as many words as are read of it")
        let words = words.map(\.bigEndian)
        _ = words.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}
