#if Recorders
import EventLog
import Foundation
import Synchronization

/// Observes a directory on a thread of its own: looking at files blocks, and the sooner one is looked at after it was
/// written, the more of its states are seen.
final class StatusWatcher: Sendable {
    /// What the thread found.
    enum Finding: Sendable {
        case observation(StatusObservation)
        /// Every file was looked at; what was missed before is missed no more.
        case scanned
        /// The system told less than happened.
        case overflow(Timestamp)
        /// The directory cannot be read.
        case unreadable
    }

    /// How the directory is observed.
    enum Mode: Sendable {
        case once, watching
        /// Looking at every file again and again.
        case polling(milliseconds: Int32)
    }

    let inbox = Inbox<Finding>(weightMax: 8 << 20)
    private let room = DispatchSemaphore(value: 0)
    private let isStopped = StopFlag()
    #if canImport(Glibc)
    private let watch: DirectoryWatch?
    #endif

    /// How often a directory is looked for that is not there, and how often all is looked at while it is watched, for
    /// file systems that tell little.
    private static let checkMilliseconds: Int32 = 1_000

    /// Begins to observe.
    init(_ directory: sending StatusDirectory, mode: Mode, now: @escaping @Sendable () -> Timestamp) {
        #if canImport(Glibc)
        if case .watching = mode { watch = DirectoryWatch() } else { watch = nil }
        #endif
        inbox.whenDrained { [room] in room.signal() }
        let box = Transfer(directory)
        let thread = Thread { [self] in
            run(box.value, mode: mode, now: now)
            inbox.finish()
        }
        thread.stackSize = 1 << 20
        thread.name = "status"
        thread.start()
    }

    /// Ends the thread soon; the inbox finishes then.
    func stop() {
        isStopped.set()
        room.signal()
        #if canImport(Glibc)
        watch?.stop()
        #endif
    }

    private func run(_ directory: StatusDirectory, mode: Mode, now: @escaping @Sendable () -> Timestamp) {
        switch mode {
        case .once: scan(directory)
        case .polling(let milliseconds):
            while !isStopped.isSet {
                scan(directory)
                isStopped.wait(milliseconds: milliseconds)
            }
        case .watching:
            #if canImport(Glibc)
            if let watch { return self.watch(directory, watch, now: now) }
            #endif
            run(directory, mode: .polling(milliseconds: Self.checkMilliseconds), now: now)
        }
    }

    #if canImport(Glibc)
    private func watch(_ directory: StatusDirectory, _ watch: DirectoryWatch, now: @Sendable () -> Timestamp) {
        // Watched before it is listed, so that nothing falls between.
        var isWatched = watch.add(directory.path)
        scan(directory)
        while !isStopped.isSet {
            let happenings = watch.next(milliseconds: isWatched ? nil : Self.checkMilliseconds)
            if !isWatched {
                isWatched = watch.add(directory.path)
                scan(directory)
            }
            for happening in happenings {
                switch happening {
                case .stopped: return
                case .changed(let name): if directory.matches(name) { directory.observe(name) { deliver($0) } }
                case .rescan:
                    push(.overflow(now()), weight: 256)
                    scan(directory)
                case .gone:
                    isWatched = watch.add(directory.path)
                    scan(directory)
                }
            }
        }
    }
    #endif

    private func scan(_ directory: StatusDirectory) {
        let isDone = directory.scan { deliver($0) }
        push(isDone ? .scanned : .unreadable, weight: 16)
    }

    private func deliver(_ observation: StatusObservation) {
        push(.observation(observation), weight: observation.weight)
    }

    /// Waits where the log is slower than the files: what changes meanwhile is seen as it is then.
    private func push(_ finding: Finding, weight: Int) {
        guard !isStopped.isSet, !inbox.push(finding, weight: weight) else { return }
        room.wait()
    }
}

/// Gives a value to another thread once.
private struct Transfer<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// Says once that a thread is to end.
///
/// A pipe, for a wait by condition lasts until a date, and so as long as the wall clock is stepped back meanwhile.
private final class StopFlag: Sendable {
    private let isStopped = Atomic(false)
    private let ends: (read: Int32, write: Int32)

    init() {
        var pipes: [Int32] = [-1, -1]
        if pipe(&pipes) != 0 { pipes = [-1, -1] }
        for end in pipes where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        ends = (pipes[0], pipes[1])
    }

    deinit {
        for end in [ends.read, ends.write] where end >= 0 { close(end) }
    }

    var isSet: Bool { isStopped.load(ordering: .acquiring) }

    func set() {
        isStopped.store(true, ordering: .releasing)
        var byte: UInt8 = 0
        if ends.write >= 0 { _ = write(ends.write, &byte, 1) }
    }

    /// Waits so long, or until it is set; without a pipe, for want of descriptors, so long.
    func wait(milliseconds: Int32) {
        var polled = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
        _ = poll(&polled, 1, milliseconds)
    }
}
#endif
