#if Recorders
import Dispatch
import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Observes a directory on a thread of its own, because reading files blocks, and because a file read sooner after a
/// write shows more of its states.
///
/// The thread keeps the watcher alive until `stop` was called, or until it is done in the mode `once`.
final class StatusWatcher: Sendable {
    /// Something that the thread found.
    enum Finding: Sendable {
        case observation(StatusObservation)
        /// Every file was looked at, in its state at that instant or later. This closes the gaps before.
        case scanned(Timestamp)
        /// Everything that happened up to that instant was looked at.
        case heard(Timestamp)
        /// Between `from` and the next `scanned` a version of a file may have been replaced before it was read.
        case missed(Loss, from: Timestamp, at: Timestamp)
        /// The directory cannot be listed; everything up to `from` was looked at.
        case unreadable(from: Timestamp, at: Timestamp)
    }

    /// Why versions of files may have been missed.
    enum Loss: String {
        /// The system dropped reports.
        case overflow
        /// A file was written again, or removed, before its content was read.
        case replaced
        /// The directory was removed and made again, and not watched in between.
        case unwatched
        /// A poll came later than it should.
        case late
    }

    /// How the directory is observed.
    enum Mode: Sendable {
        case once, watching
        /// Looks at every file at this interval.
        case polling(milliseconds: Int32)
    }

    /// The findings, in order; at most about 8 MiB of file contents wait.
    let inbox = Inbox<Finding>(weightMax: 8 << 20)
    /// Signalled when the inbox was emptied, and by `stop`: wakes the thread in `push`.
    private let room = DispatchSemaphore(value: 0)
    private let isStopped = StopFlag()
    #if canImport(Glibc)
    /// `nil` unless watching, or if the system has no inotify instance left; then the thread polls.
    private let watch: DirectoryWatch?
    #endif

    /// The interval at which an absent directory is looked for, and quiet is reported; also that of polls in place of
    /// inotify.
    private static let checkMilliseconds: Int32 = 1_000
    /// The most that a poll may be late without a loss.
    private static let delayMax = Duration.seconds(2)

    /// Begins to observe.
    init(_ directory: sending StatusDirectory, mode: Mode, now: @escaping @Sendable () -> Timestamp) {
        #if canImport(Glibc)
        if case .watching = mode { watch = DirectoryWatch() } else { watch = nil }
        #endif
        // Without `self`, so that the inbox does not keep the watcher alive.
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

    /// The thread's work; returns once it was stopped or is done.
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

    /// Looks at every file at an interval, until it is stopped. `heard` is the beginning of the last complete look: a
    /// change after that may show only in the next.
    private func poll(_ directory: StatusDirectory, milliseconds: Int32, now: @Sendable () -> Timestamp) {
        var (heard, lookedAt) = (now(), ContinuousClock.now)
        while !isStopped.isSet {
            let (instant, start) = (now(), ContinuousClock.now)
            // The thread was held up, or the machine slept: more versions than usual may have come and gone.
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

    /// Looks at every file; false if the directory cannot be listed.
    private func scan(_ directory: StatusDirectory, heard: Timestamp, _ now: () -> Timestamp) -> Bool {
        let isDone = directory.scan { deliver($0) }
        if !isDone { push(.unreadable(from: heard, at: now())) }
        return isDone
    }

    private func deliver(_ observation: StatusObservation) {
        push(.observation(observation), weight: observation.weight)
    }

    /// Pushes a finding. Waits while the log is slower than the files; changes meanwhile are seen in their latest
    /// state.
    private func push(_ finding: Finding, weight: Int = 16) {
        guard !isStopped.isSet, !inbox.push(finding, weight: weight) else { return }
        room.wait()
    }
}

#if canImport(Glibc)
extension StatusWatcher {
    /// Observes a directory by the system's reports. Used on the watcher's thread.
    private struct WatchLoop {
        let watcher: StatusWatcher
        let directory: StatusDirectory
        let watch: DirectoryWatch
        let now: @Sendable () -> Timestamp
        var isWatched = false
        /// True if the last look at every file succeeded.
        var isListed = false
        /// True if something was missed that no `scanned` has covered yet.
        var hasMissed = false
        /// The instant up to which everything that happened was looked at.
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
            // Watches before it lists, so that no change falls in between.
            isWatched = watch.add(directory.path)
            list()
            while !watcher.isStopped.isSet {
                // Before each wait, so that a gap that opens later begins as late as is true.
                if isWatched, isListed { noteQuiet() }
                let happenings = watch.next(milliseconds: StatusWatcher.checkMilliseconds)
                if !isWatched { watchAgain() } else if !isListed { list() }
                for happening in happenings where happening != .stopped { take(happening) }
                if happenings.contains(.stopped) { return }
            }
        }

        /// Reports quiet if every report was handled.
        private mutating func noteQuiet() {
            let instant = now()
            // The instant is taken before the question: a report that comes after it belongs to later.
            guard watch.isQuiet else { return }
            heard = instant
            watcher.push(hasMissed ? .scanned(instant) : .heard(instant))
            hasMissed = false
        }

        /// Looks at every file. With a loss that is not covered yet, `noteQuiet` reports it as scanned: only then were
        /// the reports behind the loss handled, too.
        private mutating func list() {
            let instant = now()
            isListed = watcher.scan(directory, heard: heard, now)
            guard isListed else { return }
            // In a directory that does not exist nothing can be missed.
            if !isWatched || !hasMissed {
                watcher.push(.scanned(instant))
                (heard, hasMissed) = (instant, false)
            }
        }

        /// Watches the directory anew. What happened between its making and the watch is a loss, because files may have
        /// come and gone.
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

        /// Reports the first loss since everything was last looked at; later ones belong to the same gap.
        private mutating func note(_ loss: Loss) {
            guard !hasMissed else { return }
            hasMissed = true
            watcher.push(.missed(loss, from: heard, at: now()))
        }
    }
}
#endif

/// Hands a value over to another thread.
///
/// `@unchecked Sendable` is right because the value came in as `sending`, so nobody else refers to it, and one thread
/// takes it.
private struct Transfer<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// Tells a thread to end.
///
/// Uses a pipe, because a wait for a condition has a date as its timeout: if the wall clock is stepped back, it grows
/// by the step.
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

    /// Waits for `milliseconds`, or until the flag is set. If the system had no descriptors for a pipe, waits the whole
    /// time.
    func wait(milliseconds: Int32) {
        var polled = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
        _ = poll(&polled, 1, milliseconds)
    }
}
#endif
