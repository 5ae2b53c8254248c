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

/// An observed directory: remembers the last state of each file and delivers what differs from it.
///
/// Used by one thread at a time; blocks on the file system.
final class StatusDirectory {
    /// The file's metadata that tells one write from the next.
    private struct Mark: Equatable {
        /// The inode: a file that is moved into place has another one, even with the same size and time.
        var file: UInt64 = 0
        var size: Int64 = 0
        /// The time of the last write.
        var seconds: Int = 0
        var nanoseconds: Int = 0

        /// True if another write may still leave the same mark: within about 1 s of the file's time.
        var isRecent: Bool { abs(Int(Date().timeIntervalSince1970) - seconds) <= 1 }
    }

    /// The last state of a file that was delivered or remembered.
    private struct Known {
        /// `nil` if the file is known only from an earlier run's events.
        var mark: Mark?
        /// The hash of the content; without a mark, that of the recorded payload, whose secrets were replaced.
        var hash: Hash256?
        /// True if the file was read so shortly after it was written that another write may leave the same mark,
        /// because file systems have coarse clocks.
        var isRecent = false
    }

    /// The result of looking at a file.
    private enum Outcome {
        case delivered, unchanged, absent
        /// The name is not a regular file, or cannot be read.
        case passedOver
    }

    /// The directory; without a slash at the end, unless it is the root.
    let path: String
    /// Shell patterns (fnmatch); a leading dot must be matched by a dot.
    private let patterns: [String]
    /// The payload that an event of a content holds, with secrets replaced.
    private let recorded: @Sendable ([UInt8]) -> [UInt8]
    /// The recorder's clock, for `observedAt`.
    private let now: @Sendable () -> Timestamp
    /// By the file's name. A file without an entry does not exist as far as the log shows.
    private var known: [[UInt8]: Known]
    /// The files that could not be read at the last look.
    private(set) var unreadable: Set<[UInt8]> = []
    /// The files with a delivery since a writer last finished them. If such a file looks unchanged when it is finished,
    /// its content was read in time. Any other file that then looks unchanged or is gone was replaced or removed before
    /// it could be read.
    private var fresh: Set<[UInt8]> = []
    /// The files that were written but gone when they were looked at. inotify never reports a file as finished if it is
    /// removed before its writer closes it.
    private var unread: Set<[UInt8]> = []

    /// - Parameter remembered: the hashes of the last recorded payloads, for the files that existed when they were
    ///   recorded.
    init(
        path: String,
        patterns: [String],
        remembered: [[UInt8]: Hash256] = [:],
        recorded: @escaping @Sendable ([UInt8]) -> [UInt8] = RedactionRules.none.redactedStatus,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.path = path
        self.patterns = patterns
        self.recorded = recorded
        self.now = now
        known = remembered.mapValues { Known(mark: nil, hash: $0) }
    }

    /// True if the name matches one of the patterns.
    func matches(_ name: [UInt8]) -> Bool {
        let text = name.map { CChar(bitPattern: $0) } + [0]
        return patterns.contains { fnmatch($0, text, FNM_PERIOD) == 0 }
    }

    /// Looks at every file. Delivers new and changed files, sorted by name, then files that are gone.
    ///
    /// - Returns: false if the directory exists but cannot be listed; then nothing is delivered.
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

    /// Looks at a file to which something happened; its mark alone does not decide.
    func observe(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) {
        _ = look(name, isTold: true, deliver)
    }

    /// Looks at a file whose bytes were written.
    func observeWritten(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) {
        if look(name, isTold: true, deliver) == .absent { unread.insert(name) }
    }

    /// Looks at a file that a writer finished or moved into place.
    ///
    /// - Returns: true if the finished content was replaced or removed before it was read.
    func observeFinished(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) -> Bool {
        let wasFresh = fresh.contains(name)
        let outcome = look(name, isTold: true, deliver)
        fresh.remove(name)
        unread.remove(name)
        return !wasFresh && (outcome == .unchanged || outcome == .absent)
    }

    /// Looks at a file that was removed or moved away.
    ///
    /// - Returns: as `observeFinished`, but for a file that was never seen only if a write to it was reported.
    func observeRemoved(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) -> Bool {
        let (wasKnown, wasUnread) = (known[name] != nil, unread.contains(name))
        return observeFinished(name, deliver) && (wasKnown || wasUnread)
    }

    /// Reads one file, and delivers its content if that is not what was delivered last.
    ///
    /// - Parameter isTold: true if a report named the file. Without one, a file with the known mark is not read, unless
    ///   the mark is too young to tell two writes apart.
    private func look(_ name: [UInt8], isTold: Bool = false, _ deliver: (StatusObservation) -> Void) -> Outcome {
        let text = Array("\(path)/".utf8CString.dropLast()) + name.map { CChar(bitPattern: $0) } + [0]
        // Follows no symbolic link, and does not wait for a pipe that nobody writes to.
        let descriptor = open(text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return failed(to: name, errno, deliver) }
        defer { close(descriptor) }
        // The path now has something that is no regular file, so the file that was there is gone.
        guard var mark = Self.mark(descriptor) else { return forget(name, deliver) ? .delivered : .passedOver }
        let last = known[name]
        if let last, last.mark == mark, !isTold, !last.isRecent { return .unchanged }
        guard let content = Self.read(descriptor, &mark) else {
            unreadable.insert(name)
            return .passedOver
        }
        unreadable.remove(name)
        // The mark was taken before the content was read, so a write in between shows in the next mark.
        let hash = Self.hash(content)
        known[name] = Known(mark: mark, hash: hash, isRecent: mark.isRecent)
        if let last, repeats(last, mark, content, hash) { return .unchanged }
        fresh.insert(name)
        deliver(StatusObservation(name: name, content: content, observedAt: now()))
        return .delivered
    }

    /// True if the content is what an earlier run recorded last, or what was already read with this mark.
    private func repeats(
        _ last: Known,
        _ mark: Mark,
        _ content: StatusObservation.Content,
        _ hash: Hash256?
    ) -> Bool {
        last.mark == nil ? last.hash == recordedHash(content) : last.mark == mark && last.hash == hash
    }

    /// Judges a file that cannot be opened. Where access or descriptors are missing, the file may still exist, so
    /// nothing is delivered; every other error means that no regular file has the name.
    private func failed(to name: [UInt8], _ number: Int32, _ deliver: (StatusObservation) -> Void) -> Outcome {
        if [EACCES, EMFILE, ENFILE, EINTR].contains(number) {
            unreadable.insert(name)
            return .passedOver
        }
        if forget(name, deliver) { return .delivered }
        return number == ENOENT ? .absent : .passedOver
    }

    /// Delivers that a known file is gone; returns whether it was known.
    @discardableResult
    private func forget(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) -> Bool {
        guard known.removeValue(forKey: name) != nil else { return false }
        deliver(StatusObservation(name: name, content: .absent, observedAt: now()))
        return true
    }

    /// Delivers that every known file is gone, sorted by name.
    private func forgetAll(_ deliver: (StatusObservation) -> Void) {
        for name in known.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { forget(name, deliver) }
    }
}

extension StatusDirectory {
    /// True if something exists at the path; links are followed.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0
    }

    /// The names that match, in no order; `nil` if the directory cannot be read.
    private func list() -> [[UInt8]]? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var names: [[UInt8]] = []
        while let entry = readdir(directory) {
            // An entry ends with its name, and may be shorter than its type.
            // The pointer is to the entry's own memory, which is valid until the next `readdir`.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { text in
                    Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
                }
            }
            if matches(name) { names.append(name) }
        }
        return names
    }

    /// The mark of an open file; `nil` if it is not a regular file.
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

    /// The hash of the content as it is, before secrets are replaced.
    private static func hash(_ content: StatusObservation.Content) -> Hash256? {
        switch content {
        case .whole(let bytes): Hasher256.hash(bytes)
        case .oversize(_, let hash): hash
        case .absent: nil
        }
    }

    /// The hash of the payload that an event of this content holds, with secrets replaced; `nil` if it is not kept
    /// whole.
    private func recordedHash(_ content: StatusObservation.Content) -> Hash256? {
        guard case .whole(let bytes) = content else { return nil }
        return Hasher256.hash(recorded(bytes))
    }

    /// How often a file is read that is written to meanwhile.
    private static let readsMax = 3

    /// Reads a file until its mark is the same before and after, so that the content is that of the mark: otherwise the
    /// next look would find a new mark, and deliver the same content a second time. A file that never rests is delivered as
    /// it was read last, with the mark before.
    private static func read(_ descriptor: Int32, _ mark: inout Mark) -> StatusObservation.Content? {
        var content = readOnce(descriptor)
        for _ in 1..<readsMax {
            guard content != nil, let after = self.mark(descriptor), after != mark else { break }
            mark = after
            content = readOnce(descriptor)
        }
        return content
    }

    /// The content of an open file, or only its length and hash if it is larger than a payload may be (I3); `nil` if
    /// reading fails.
    private static func readOnce(_ descriptor: Int32) -> StatusObservation.Content? {
        lseek(descriptor, 0, SEEK_SET)
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
