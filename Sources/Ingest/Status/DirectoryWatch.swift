#if Recorders
#if canImport(Glibc)
import Glibc

/// Reports which names of a directory changed, by Linux's inotify.
///
/// `@unchecked Sendable` is right because one thread uses everything but `stop`, and `stop` only writes to a pipe whose
/// descriptor never changes.
final class DirectoryWatch: @unchecked Sendable {
    /// Something that happened in the directory.
    enum Happening: Equatable {
        /// A file was created, or its attributes changed.
        case changed([UInt8])
        /// Bytes of a file were written.
        case written([UInt8])
        /// A writer closed a file, or moved it here.
        case finished([UInt8])
        /// A file was deleted, or moved away.
        case removed([UInt8])
        /// The system dropped reports, so every file must be looked at again.
        case lost
        /// The watched directory was removed or moved away.
        case gone
        /// `stop` was called; no report follows.
        case stopped
    }

    /// The inotify instance; -1 only if `init` failed.
    private let descriptor: Int32
    /// A pipe that wakes `next`. Its byte is never read, so `next` keeps returning `stopped`.
    private let wakeup: (read: Int32, write: Int32)
    /// The watch of the directory that is now at the path; -1 if none. Reports of a former watch are ignored.
    private var watched: Int32 = -1

    /// Makes a watch without a directory; `nil` if the system has no descriptor or inotify instance left.
    init?() {
        var pipes: [Int32] = [-1, -1]
        guard pipe(&pipes) == 0 else { return nil }
        for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wakeup = (pipes[0], pipes[1])
        descriptor = inotify_init1(O_CLOEXEC | O_NONBLOCK)
        // Every property is set, so `deinit` runs after this and closes the pipe.
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        close(wakeup.read)
        close(wakeup.write)
    }

    /// What inotify(7) reports. `IN_ONLYDIR` refuses a path that is no directory.
    private static let mask = UInt32(
        IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR
    )

    /// Begins to watch a directory in place of the former one; false if it does not exist or no watch is left. Adding
    /// the directory that is watched already changes nothing.
    func add(_ path: String) -> Bool {
        let former = watched
        watched = inotify_add_watch(descriptor, path, Self.mask)
        // Added first and removed then: the same directory keeps its watch, and loses no report.
        if former >= 0, former != watched { _ = inotify_rm_watch(descriptor, former) }
        return watched >= 0
    }

    /// True if `next` has reported everything that happened so far.
    var isQuiet: Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 0
    }

    /// Makes `next` return `stopped`, from any thread.
    func stop() {
        var byte: UInt8 = 0
        _ = write(wakeup.write, &byte, 1)
    }

    /// What happened since the last call. Waits for something to happen, at most `milliseconds`, or without limit if
    /// `nil`.
    func next(milliseconds: Int32?) -> [Happening] {
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.read, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&polled, 2, milliseconds ?? -1) >= 0 || errno == EINTR else { return [.stopped] }
        if polled[1].revents != 0 { return [.stopped] }
        return polled[0].revents == 0 ? [] : readHappenings()
    }

    /// The reports that wait, at most 64 KiB of them; the rest stays for the next call.
    private func readHappenings() -> [Happening] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return [] }
        var happenings: [Happening] = []
        var offset = 0
        let headSize = MemoryLayout<inotify_event>.size
        while offset + headSize <= count {
            // inotify(7): a head, and `len` bytes with the name, padded with zeros. The loop has checked that the head
            // lies within what was read; the load need not be aligned.
            let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
            let start = offset + headSize
            let end = min(count, start + Int(event.len))
            offset = max(end, start)
            let name = Array(buffer[start..<end].prefix { $0 != 0 })
            if let happening = happening(event, name) { happenings.append(happening) }
        }
        return happenings
    }

    /// What a report means; `nil` if it concerns a former watch, a subdirectory, or the directory's own attributes.
    private func happening(_ event: inotify_event, _ name: [UInt8]) -> Happening? {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return .lost }
        // An overflow has no watch, so it is judged before this.
        guard event.wd == watched else { return nil }
        if event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { return .gone }
        guard !name.isEmpty, event.mask & UInt32(IN_ISDIR) == 0 else { return nil }
        // One report has one of these bits.
        if event.mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0 { return .finished(name) }
        if event.mask & UInt32(IN_DELETE | IN_MOVED_FROM) != 0 { return .removed(name) }
        return event.mask & UInt32(IN_MODIFY) != 0 ? .written(name) : .changed(name)
    }
}
#endif
#endif
