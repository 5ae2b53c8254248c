#if Recorders
#if canImport(Glibc)
import Glibc

/// Says which names of a directory changed, as Linux's inotify tells it. Used by one thread, but for `stop`.
final class DirectoryWatch: @unchecked Sendable {
    /// What happened.
    enum Happening {
        case changed([UInt8])
        /// More happened than was told, or the directory itself went: everything must be looked at again.
        case rescan(isLoss: Bool)
        /// The directory that was watched is gone.
        case gone
        case stopped
    }

    private let descriptor: Int32
    private let wakeup: (read: Int32, write: Int32)

    /// - Returns: `nil` where inotify gives no more watches.
    init?() {
        var pipes: [Int32] = [-1, -1]
        guard pipe(&pipes) == 0 else { return nil }
        for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wakeup = (pipes[0], pipes[1])
        descriptor = inotify_init1(O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            close(pipes[0])
            close(pipes[1])
            return nil
        }
    }

    deinit {
        close(descriptor)
        close(wakeup.read)
        close(wakeup.write)
    }

    private static let mask = UInt32(
        IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR
    )

    /// Begins to watch a directory; false where it is not there or no watch is left.
    func add(_ path: String) -> Bool {
        inotify_add_watch(descriptor, path, Self.mask) >= 0
    }

    /// Makes `next` return `stopped`, from any thread.
    func stop() {
        var byte: UInt8 = 0
        _ = write(wakeup.write, &byte, 1)
    }

    /// What happened since the last call; waits at most so long, without end if it is `nil`.
    func next(milliseconds: Int32?) -> [Happening] {
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.read, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&polled, 2, milliseconds ?? -1) >= 0 || errno == EINTR else { return [.stopped] }
        if polled[1].revents != 0 { return [.stopped] }
        return polled[0].revents == 0 ? [] : readHappenings()
    }

    private func readHappenings() -> [Happening] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return [] }
        var happenings: [Happening] = []
        var offset = 0
        let headSize = MemoryLayout<inotify_event>.size
        while offset + headSize <= count {
            let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
            let start = offset + headSize
            let end = min(count, start + Int(event.len))
            offset = max(end, start)
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                happenings.append(.rescan(isLoss: true))
            } else if event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 {
                happenings.append(.gone)
            } else if event.len > 0 {
                happenings.append(.changed(Array(buffer[start..<end].prefix { $0 != 0 })))
            }
        }
        return happenings
    }
}
#endif
#endif
