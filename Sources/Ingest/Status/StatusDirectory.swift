#if Recorders
import EventLog
import Foundation

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
    }

    private struct Known {
        /// `nil` where only what an earlier run recorded is known.
        var mark: Mark?
        var recordedHash: Hash256?
    }

    let path: String
    private let patterns: [String]
    private let now: @Sendable () -> Timestamp
    private var known: [[UInt8]: Known]
    /// Files that could not be read, so that each is told once.
    private(set) var unreadable: Set<[UInt8]> = []

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
        known = remembered.mapValues { Known(mark: nil, recordedHash: $0) }
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
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) { observe(name, deliver) }
        let present = Set(names)
        for name in known.keys.filter({ !present.contains($0) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            observe(name, deliver)
        }
        return true
    }

    /// Looks at one file.
    func observe(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) {
        let text = Array("\(path)/".utf8CString.dropLast()) + name.map { CChar(bitPattern: $0) } + [0]
        // A symbolic link is not followed, and a pipe that nobody writes to is not waited for.
        let descriptor = open(text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == EACCES || errno == EMFILE || errno == ENFILE || errno == EINTR {
                unreadable.insert(name)
            } else {
                forget(name, deliver)
            }
            return
        }
        defer { close(descriptor) }
        guard let mark = Self.mark(descriptor) else { return forget(name, deliver) }
        if let last = known[name], last.mark == mark { return }
        guard let content = Self.read(descriptor) else {
            unreadable.insert(name)
            return
        }
        unreadable.remove(name)
        let last = known[name]
        known[name] = Known(mark: mark)
        // What an earlier run saw last is not seen anew.
        if let last, last.mark == nil, last.recordedHash == Self.recordedHash(content) { return }
        deliver(StatusObservation(name: name, content: content, observedAt: now()))
    }

    private func forget(_ name: [UInt8], _ deliver: (StatusObservation) -> Void) {
        guard known.removeValue(forKey: name) != nil else { return }
        deliver(StatusObservation(name: name, content: .absent, observedAt: now()))
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
            let count = Foundation.read(descriptor, &chunk, chunk.count)
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
