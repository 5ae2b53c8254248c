#if Recorders
import EventLog
import Ingest
import Projections

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Writes and removes status files in a directory, as they were recorded, for clients that watch the directory.
///
/// Files up to the start are written at once and not counted as given: they are the state that the client begins with.
struct FilesPlay {
    private let play: PlayContext
    private let directory: String
    private var script: PlayScript
    private var ticker: PlayTicker
    private var readers: PlayReaders

    init(_ play: PlayContext, directory: String, mayOverwrite: Bool) throws {
        try PlayDirectory.prepare(directory, mayOverwrite: mayOverwrite)
        self.play = play
        self.directory = directory
        script = PlayScript(store: play.store, source: play.source, end: play.end)
        ticker = PlayTicker(play)
        readers = PlayReaders(directory: directory)
    }

    /// Writes and removes files until the script ends.
    ///
    /// - Throws: `EngineError` for a file that cannot be written, `CancellationError`.
    mutating func run() async throws {
        while let step = try script.step() {
            if case .file(let path, let isEncoded, let bytes) = step.act {
                try await give(step, name: Self.name(of: path, isEncoded: isEncoded), bytes)
            }
            play.report.change { $0.sequence = step.sequence }
        }
        play.report.change {
            $0.sequence = play.end
            $0.isDone = true
        }
    }

    private mutating func give(_ step: PlayStep, name: [UInt8]?, _ bytes: [UInt8]?) async throws {
        guard let name else { return play.report.note(recorded: "a file that has no name", client: "not written") }
        let isPassed = step.sequence <= play.start
        if !isPassed { try await ticker.wait(for: step.recordedAt) }
        if let bytes { try put(bytes, as: name) } else { try remove(name) }
        guard !isPassed else { return }
        play.report.change { $0.given += 1 }
        // At recorded speed, the time between changes is the client's chance to read.
        if ticker.isImmediate { try await readers.wait(for: name, isRemoved: bytes == nil) }
    }

    /// The name of a file directly in the directory: the last part of the recorded path, as bytes. `nil` if that part
    /// is empty, `.`, `..` or has a zero byte.
    ///
    /// No name leads out of the directory, whatever the log contains. A slash is tested again, because an escape may
    /// stand for one.
    static func name(of path: String, isEncoded: Bool) -> [UInt8]? {
        let last =
            path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last.map(Array.init) ?? []
        let name = isEncoded ? UTF8Text.restoringPath(last) : last
        let isName = !name.isEmpty && !name.contains(0) && !name.contains(UInt8(ascii: "/"))
        return isName && name != Array(".".utf8) && name != Array("..".utf8) ? name : nil
    }

    /// Writes one file whole. A failure may leave the temporary name behind; the next file removes it.
    private func put(_ bytes: [UInt8], as name: [UInt8]) throws {
        // The content is written under another name and renamed, so that readers see whole contents only. Whatever has
        // that name goes, and the file is made anew (`O_EXCL`): a planted link would lead the write out of the
        // directory, a planted FIFO would never open.
        let beside = path(Array(".play-\(getpid())".utf8))
        unlink(beside)
        let file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw trouble(name) }
        // The umask may have taken rights away.
        _ = fchmod(file, 0o600)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                write(file, $0.baseAddress.map { $0 + done }, bytes.count - done)
            }
            // A full disk or a quota ends the playback.
            guard count >= 0 || errno == EINTR else {
                defer { close(file) }
                throw trouble(name)
            }
            done += max(count, 0)
        }
        close(file)
        guard rename(beside, path(name)) == 0 else { throw trouble(name) }
    }

    private func remove(_ name: [UInt8]) throws {
        guard unlink(path(name)) == 0 || errno == ENOENT else { throw trouble(name) }
    }

    private func path(_ name: [UInt8]) -> [CChar] {
        (Array(directory.utf8) + [UInt8(ascii: "/")] + name + [0]).map { CChar(bitPattern: $0) }
    }

    /// An error with the reason in `errno`; to be called before anything else changes that.
    private func trouble(_ name: [UInt8]) -> EngineError {
        EngineError(
            "play: \"\(String(decoding: name, as: UTF8.self))\" in \"\(directory)\": \(String(cString: strerror(errno)))"
        )
    }
}

/// Waits until programs that watch a directory have read a file, so that no version is replaced unseen.
///
/// Only Linux shows who reads: inotify(7) reports `IN_CLOSE_NOWRITE` when a file that was opened for reading is closed.
/// Elsewhere, each wait runs to its limit until `unreadMax` changes have passed.
struct PlayReaders {
    /// The longest wait for a program that has read before.
    private static let patience = Duration.seconds(1)
    /// The longest wait while no program has read yet.
    private static let first = Duration.milliseconds(250)
    /// The wait after a removal, which no read confirms.
    private static let removal = Duration.milliseconds(25)
    /// After this many changes in a row that nobody read, no further change is waited for.
    private static let unreadMax = 4

    /// The inotify descriptor; negative if there is none. It lives as long as the process.
    private let descriptor: Int32
    /// True while a program reads what is written.
    private var hasReader = false
    private var unread = 0

    init(directory: String) {
        #if canImport(Glibc)
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        if descriptor >= 0 { inotify_add_watch(descriptor, directory, UInt32(IN_CLOSE_NOWRITE)) }
        #else
        descriptor = -1
        #endif
    }

    /// Returns once somebody has read the file, or once nobody seems to. Polls every millisecond.
    mutating func wait(for name: [UInt8], isRemoved: Bool) async throws {
        if isRemoved {
            if hasReader { try await Task.sleep(for: Self.removal) }
            return
        }
        guard hasReader || unread < Self.unreadMax else { return }
        let end = ContinuousClock.now + (hasReader ? Self.patience : Self.first)
        while ContinuousClock.now < end {
            if takeNames().contains(name) {
                (hasReader, unread) = (true, 0)
                return
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        unread += 1
        if unread >= Self.unreadMax { hasReader = false }
    }

    /// The names of files that were read since the last call. Empty if the descriptor is invalid.
    private func takeNames() -> [[UInt8]] {
        #if canImport(Glibc)
        var names: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let head = MemoryLayout<inotify_event>.size
        while true {
            // The descriptor does not block: -1 means that no event waits.
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return names }
            var place = 0
            while place + head <= count {
                // An event is a header and `len` bytes of name, padded with zero bytes (inotify(7)). The kernel returns
                // whole events, and `place + head <= count` keeps the load within them. Unaligned, because an array of
                // bytes guarantees no alignment.
                let length = buffer.withUnsafeBytes {
                    Int($0.loadUnaligned(fromByteOffset: place, as: inotify_event.self).len)
                }
                let end = min(place + head + length, count)
                names.append(Array(buffer[(place + head)..<end].prefix { $0 != 0 }))
                place = end
            }
        }
        #else
        return []
        #endif
    }
}
#endif
