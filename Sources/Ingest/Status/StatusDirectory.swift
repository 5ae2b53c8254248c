#if Recorders
import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A directory whose files are observed: knows what each was last, and says what is different now.
///
/// Used by one thread at a time; blocks on the file system.
final class StatusDirectory {
    /// What tells one write of a file from the next.
    private struct Mark: Equatable {
        var file: UInt64 = 0
        var size: Int64 = 0
        var seconds: Int = 0
        var nanoseconds: Int = 0

        /// Whether a write may follow that leaves the same mark.
        var isRecent: Bool { abs(Int(Date().timeIntervalSince1970) - seconds) <= 1 }
    }

    private struct Known {
        /// `nil` where only what an earlier run recorded is known.
        var mark: Mark?
        /// Of the content; of what an earlier run recorded, without its secrets.
        var hash: Hash256?
        /// Whether it was written so shortly before it was read that another write may leave the same mark: the clocks of
        /// file systems are coarse.
        var isRecent = false
    }

    /// What came of looking at a file.
    private enum Outcome {
        case delivered, unchanged, absent
        /// It is no regular file, or cannot be read.
        case passedOver
    }

    let path: String
    private let patterns: [String]
    private let now: @Sendable () -> Timestamp
    private var known: [[UInt8]: Known]
    /// Files that could not be read, so that each is told once.
    private(set) var unreadable: Set<[UInt8]> = []
    /// Files of which something was delivered since a writer finished the last time.
    private var fresh: Set<[UInt8]> = []
    /// Files that were written and gone when they were looked at. A file that is removed before its writer closes it is
    /// never told as finished.
    private var unread: Set<[UInt8]> = []

    /// - Parameter remembered: the hashes of what earlier runs recorded last, of files that were there then.
    init(
        path: String,
        patterns: [String],
        remembered: [[UInt8]: Hash256] = [:],
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.path = path
        self.patterns = patterns
        self.now = now
        known = remembered.mapValues { Known(mark: nil, hash: $0) }
    }

    /// Whether a file of this name is meant.
    func matches(_ name: [UInt8]) -> Bool {
        let text = name.map { CChar(bitPattern: $0) } + [0]
        return patterns.contains { fnmatch($0, text, FNM_PERIOD) == 0 }
    }

    /// Looks at every file: what is new or different, by name, then what is gone.
    ///
    /// - Returns: `nil` where the directory cannot be listed; nothing is known then.
    func scan(_ deliver: (StatusObservation) -> Void) -> Bool {
        guard let names = list() else {
            guard !Self.exists(path) else { return false }
            forgetAll(deliver)
            return true
        }
        unread.removeAll()
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) { _ = look(name, deliver) }
        let present = Set(names)
        for name in known.keys.filter({ !present.contains($0) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            _ = look(name, deliver)
        }
        return true
    }

    /// Looks at a file that something happened to.
    func observe(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) {
        _ = look(name, isTold: true, deliver)
    }

    /// Looks at a file of which bytes were written.
    func observeWritten(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) {
        if look(name, isTold: true, deliver) == .absent { unread.insert(name) }
    }

    /// Looks at a file that a writer finished or moved into place.
    ///
    /// - Returns: whether what it held then was replaced or removed before it was read.
    func observeFinished(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) -> Bool {
        let wasFresh = fresh.contains(name)
        let outcome = look(name, isTold: true, deliver)
        fresh.remove(name)
        unread.remove(name)
        return !wasFresh && (outcome == .unchanged || outcome == .absent)
    }

    /// Looks at a file that was removed or moved away.
    ///
    /// - Returns: as `observeFinished`; a file that nobody knew is told when it was written.
    func observeRemoved(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) -> Bool {
        let (wasKnown, wasUnread) = (known[name] != nil, unread.contains(name))
        return observeFinished(name, deliver) && (wasKnown || wasUnread)
    }

    private func look(_ name: [UInt8], isTold: Bool = false, _ deliver: (StatusObservation) -> Void) -> Outcome {
        let text = Array("\(path)/".utf8CString.dropLast()) + name.map { CChar(bitPattern: $0) } + [0]
        // A symbolic link is not followed, and a pipe that nobody writes to is not waited for.
        let descriptor = open(text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return failed(to: name, errno, deliver) }
        defer { close(descriptor) }
        guard let mark = Self.mark(descriptor) else { return forget(name, deliver) ? .delivered : .passedOver }
        let last = known[name]
        if let last, last.mark == mark, !isTold, !last.isRecent { return .unchanged }
        guard let content = Self.read(descriptor) else {
            unreadable.insert(name)
            return .passedOver
        }
        unreadable.remove(name)
        let hash = Self.hash(content)
        known[name] = Known(mark: mark, hash: hash, isRecent: mark.isRecent)
        if let last, Self.repeats(last, mark, content, hash) { return .unchanged }
        fresh.insert(name)
        deliver(StatusObservation(name: name, content: content, observedAt: now()))
        return .delivered
    }

    /// Whether it is what an earlier run saw last, or what was read with this mark already.
    private static func repeats(
        _ last: Known,
        _ mark: Mark,
        _ content: StatusObservation.Content,
        _ hash: Hash256?
    ) -> Bool {
        last.mark == nil ? last.hash == recordedHash(content) : last.mark == mark && last.hash == hash
    }

    private func failed(to name: [UInt8], _ number: Int32, _ deliver: (StatusObservation) -> Void) -> Outcome {
        if [EACCES, EMFILE, ENFILE, EINTR].contains(number) {
            unreadable.insert(name)
            return .passedOver
        }
        if forget(name, deliver) { return .delivered }
        return number == ENOENT ? .absent : .passedOver
    }

    /// Whether it was known.
    @discardableResult
    private func forget(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) -> Bool {
        guard known.removeValue(forKey: name) != nil else { return false }
        deliver(StatusObservation(name: name, content: .absent, observedAt: now()))
        return true
    }

    private func forgetAll(_ deliver: (StatusObservation) -> Void) {
        for name in known.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { forget(name, deliver) }
    }
}

extension StatusDirectory {
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0
    }

    /// The names that are meant; `nil` where the directory cannot be read.
    private func list() -> [[UInt8]]? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var names: [[UInt8]] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: UInt8.self, capacity: Self.nameBytesMax) { bytes in
                    Array(UnsafeBufferPointer(start: bytes, count: Self.nameBytesMax).prefix { $0 != 0 })
                }
            }
            if matches(name) { names.append(name) }
        }
        return names
    }

    private static let nameBytesMax = 256

    /// `nil` for what is no regular file.
    private static func mark(_ descriptor: Int32) -> Mark? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Mark(
            file: UInt64(status.st_ino),
            size: Int64(status.st_size),
            seconds: time.tv_sec,
            nanoseconds: time.tv_nsec
        )
    }

    private static func hash(_ content: StatusObservation.Content) -> Hash256? {
        switch content {
        case .whole(let bytes): Hasher256.hash(bytes)
        case .oversize(_, let hash): hash
        case .absent: nil
        }
    }

    /// The hash of what an event holds of a content.
    private static func recordedHash(_ content: StatusObservation.Content) -> Hash256? {
        guard case .whole(let bytes) = content else { return nil }
        return Hasher256.hash(Secrets.redact(bytes, kind: .statusFile).bytes)
    }

    /// The content; of more than an event can hold only the length and hash.
    private static func read(_ descriptor: Int32) -> StatusObservation.Content? {
        var hasher = Hasher256()
        var bytes: [UInt8] = []
        var length = 0
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = SystemCall.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            length += count
            hasher.update(Array(chunk[..<count]))
            if length <= EnvelopeLimits.payloadBytesMax { bytes += chunk[..<count] } else { bytes = [] }
        }
        guard length > EnvelopeLimits.payloadBytesMax else { return .whole(bytes) }
        return .oversize(length: length, hash: hasher.finalize())
    }
}
#endif
