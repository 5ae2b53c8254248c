import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The folder that holds a joined log: `NUMBER.eventlog`, `NUMBER.places`, and `lock`, which one process at a time has while it makes or extends
/// one. The log with the greatest number counts, if it is whole.
///
/// Logs that are replaced are removed at once; whoever reads one has its files open. A log is believed only where it was made: its derived data,
/// which is bound to the place (I17), has the hash of its record. Otherwise a folder of logs from elsewhere could bring along a joined log with other events.
package struct JoinFolder {
    private let folder: Folder
    private let lock: OpenFile

    private static let lockName = "lock"
    private static let logSuffix = ".eventlog"
    private static let placesSuffix = ".places"
    /// More levels than a log has.
    private static let depth = 2

    /// Opens a folder, and waits for its lock.
    ///
    /// - Throws: `EventLogError` with code `io` if there is no such folder, or its file system has no locks.
    package init(at path: String) throws {
        folder = try Folder(at: path)
        lock = try folder.fileMadeIfMissing(Self.lockName)
        while flock(lock.descriptor, LOCK_EX) != 0 {
            // A file system may have no locks; waiting for one would not end.
            guard errno == EINTR else { throw EventLogError.system("lock", folder.path(of: Self.lockName)) }
        }
    }

    /// Gives the lock to the next process.
    package func unlock() { _ = flock(lock.descriptor, LOCK_UN) }

    /// The numbers of the logs, ascending.
    private func numbers() throws -> [UInt64] {
        try folder.names().compactMap { name in
            [Self.logSuffix, Self.placesSuffix].first { name.hasSuffix($0) }
                .flatMap { UInt64(name.dropLast($0.utf8.count)) }
        }
        .sorted()
    }

    /// The joined log that is there, with its record; `nil` if there is none, or none that is whole.
    func current() throws -> (store: EventStore, record: JoinRecord, places: JoinPlaces)? {
        guard let number = try numbers().last, try folder.folder("\(number)\(Self.logSuffix)") != nil,
            let file = try folder.writableFile("\(number)\(Self.placesSuffix)")
        else { return nil }
        let store = try EventStore.open(at: folder.path(of: "\(number)\(Self.logSuffix)"))
        let places = JoinPlaces(file, path: folder.path(of: "\(number)\(Self.placesSuffix)"))
        let source = try SourceName(JoinRecord.source.description)
        let (note, head) = try store.read { (try $0.bookmark(of: source), $0.head.rawValue) }
        guard let note, let record = JoinRecord(note), record.head == head, places.count == head,
            let seal = try store.read({ try $0.existingDerivedStore() })?.table(Self.tableName, version: 1),
            try seal.value(at: Self.sealKey) == Hasher256.hash(note).bytes
        else { return nil }
        return (store, record, places)
    }

    private static let tableName = "join"
    private static let sealKey = Array("record".utf8)

    /// Makes a record count here. Without it the log is made anew next time, so no error is one.
    static func seal(_ record: JoinRecord, of store: EventStore) {
        let hash = Hasher256.hash(record.bytes).bytes
        try? store.derivedStore().table(tableName, version: 1).put([(key: sealKey, value: hash)])
    }

    /// Makes an empty log behind those that are there.
    func make() throws -> (store: EventStore, places: JoinPlaces) {
        let number = (try numbers().last ?? 0) + 1
        let name = "\(number)\(Self.placesSuffix)"
        let places = JoinPlaces(try folder.makeFile(name), path: folder.path(of: name))
        return (try EventStore.openOrCreate(at: folder.path(of: "\(number)\(Self.logSuffix)")), places)
    }

    /// Removes all logs but the newest.
    func removeOthers() {
        guard let numbers = try? numbers(), let last = numbers.last else { return }
        remove(Set(numbers).subtracting([last]))
    }

    /// Removes all logs. Only what has a name as this folder gives it is removed.
    package func removeAll() { remove(Set((try? numbers()) ?? [])) }

    private func remove(_ numbers: Set<UInt64>) {
        for number in numbers.sorted() {
            try? folder.removeFile("\(number)\(Self.placesSuffix)")
            try? folder.removeFolder("\(number)\(Self.logSuffix)", depth: Self.depth)
        }
    }
}
