#if Recorders
import Dispatch
import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Observes a directory on a thread of its own: looking at files blocks, and the sooner one is looked at after it was
/// written, the more of its states are seen.
final class StatusWatcher: Sendable {
    /// What the thread found.
    enum Finding: Sendable {
        case observation(StatusObservation)
        /// Every file was looked at, as it was at that instant or later; what was missed before is missed no more.
        case scanned(Timestamp)
        /// Everything that happened up to that instant was looked at.
        case heard(Timestamp)
        /// From an instant on until the next `scanned` a version of a file may have been replaced before it was read.
        case missed(Loss, from: Timestamp, at: Timestamp)
        /// The directory cannot be listed; the instant up to which everything was looked at.
        case unreadable(from: Timestamp, at: Timestamp)
    }

    /// Why versions of files may be nobody's.
    enum Loss: String {
        /// The system told less than happened.
        case overflow
        /// A file was written again, or removed, before what it held was read.
        case replaced
        /// The directory was removed and made again, and watched only after that.
        case unwatched
        /// Files are looked at again and again, and a look came later than it should.
        case late
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

    /// How often a directory is looked for that is not there, and how often it is said that nothing happens.
    private static let checkMilliseconds: Int32 = 1_000
    /// How late a look may come.
    private static let delayMax = Duration.seconds(2)

    /// Begins to observe.
    init(_ directory: sending StatusDirectory, mode: Mode, now: @escaping @Sendable () -> Timestamp) {
        #if canImport(Glibc)
        if case .watching = mode { watch = DirectoryWatch() } else { watch = nil }
        #endif
        inbox.whenDrained { [room] in room.signal() }
        let box = Transfer(directory)
        DetachedThread.start(stackBytes: 1 << 20) { [self] in
            run(box.value, mode: mode, now: now)
            inbox.finish()
        }
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
        case .once:
            let instant = now()
            if scan(directory, heard: instant, now) { push(.scanned(instant)) }
        case .polling(let milliseconds): poll(directory, milliseconds: milliseconds, now: now)
        case .watching:
            #if canImport(Glibc)
            if let watch {
                var loop = WatchLoop(self, directory, watch, now: now)
                return loop.run()
            }
            #endif
            poll(directory, milliseconds: Self.checkMilliseconds, now: now)
        }
    }

    private func poll(_ directory: StatusDirectory, milliseconds: Int32, now: @Sendable () -> Timestamp) {
        var (heard, lookedAt) = (now(), ContinuousClock.now)
        while !isStopped.isSet {
            let (instant, start) = (now(), ContinuousClock.now)
            if start - lookedAt > .milliseconds(milliseconds) + Self.delayMax {
                push(.missed(.late, from: heard, at: instant))
            }
            lookedAt = start
            if scan(directory, heard: heard, now) {
                push(.scanned(instant))
                heard = instant
            }
            isStopped.wait(milliseconds: milliseconds)
        }
    }

    /// Looks at every file; false where the directory cannot be listed.
    private func scan(_ directory: StatusDirectory, heard: Timestamp, _ now: () -> Timestamp) -> Bool {
        let isDone = directory.scan { deliver($0) }
        if !isDone { push(.unreadable(from: heard, at: now())) }
        return isDone
    }

    private func deliver(_ observation: StatusObservation) {
        push(.observation(observation), weight: observation.weight)
    }

    /// Waits where the log is slower than the files: what changes meanwhile is seen as it is then.
    private func push(_ finding: Finding, weight: Int = 16) {
        guard !isStopped.isSet, !inbox.push(finding, weight: weight) else { return }
        room.wait()
    }
}

#if canImport(Glibc)
extension StatusWatcher {
    /// Observes a directory as the system tells of changes. Used by the watcher's thread.
    private struct WatchLoop {
        let watcher: StatusWatcher
        let directory: StatusDirectory
        let watch: DirectoryWatch
        let now: @Sendable () -> Timestamp
        var isWatched = false
        /// Whether every file was looked at since the directory is watched.
        var isListed = false
        /// Whether something was missed that no later `scanned` covers yet.
        var hasMissed = false
        /// Everything that happened up to this instant was looked at.
        var heard: Timestamp

        init(
            _ watcher: StatusWatcher,
            _ directory: StatusDirectory,
            _ watch: DirectoryWatch,
            now: @escaping @Sendable () -> Timestamp
        ) {
            (self.watcher, self.directory, self.watch, self.now) = (watcher, directory, watch, now)
            heard = now()
        }

        mutating func run() {
            // Watched before it is listed, so that nothing falls between.
            isWatched = watch.add(directory.path)
            list()
            while !watcher.isStopped.isSet {
                if isWatched, isListed { noteQuiet() }
                let happenings = watch.next(milliseconds: StatusWatcher.checkMilliseconds)
                if !isWatched { watchAgain() } else if !isListed { list() }
                for happening in happenings where happening != .stopped { take(happening) }
                if happenings.contains(.stopped) { return }
            }
        }

        /// Says that nothing that was told waits to be looked at, if so.
        private mutating func noteQuiet() {
            let instant = now()
            guard watch.isQuiet else { return }
            heard = instant
            watcher.push(hasMissed ? .scanned(instant) : .heard(instant))
            hasMissed = false
        }

        private mutating func list() {
            let instant = now()
            isListed = watcher.scan(directory, heard: heard, now)
            guard isListed else { return }
            // Where it is not there, nothing can be missed in it.
            if !isWatched || !hasMissed {
                watcher.push(.scanned(instant))
                (heard, hasMissed) = (instant, false)
            }
        }

        private mutating func watchAgain() {
            isWatched = watch.add(directory.path)
            if isWatched { note(.unwatched) }
            list()
        }

        private mutating func take(_ happening: DirectoryWatch.Happening) {
            let deliver: (StatusObservation) -> Void = { [watcher] in watcher.deliver($0) }
            switch happening {
            case .changed(let name): if directory.matches(name) { directory.observe(name, deliver) }
            case .written(let name): if directory.matches(name) { directory.observeWritten(name, deliver) }
            case .finished(let name):
                if directory.matches(name), directory.observeFinished(name, deliver) { note(.replaced) }
            case .removed(let name):
                if directory.matches(name), directory.observeRemoved(name, deliver) { note(.replaced) }
            case .lost:
                note(.overflow)
                list()
            case .gone: watchAgain()
            case .stopped: break
            }
        }

        /// Something was missed after everything was looked at the last time.
        private mutating func note(_ loss: Loss) {
            guard !hasMissed else { return }
            hasMissed = true
            watcher.push(.missed(loss, from: heard, at: now()))
        }
    }
}
#endif

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
