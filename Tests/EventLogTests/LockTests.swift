import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct LockTests {
    /// Holds a lock as another process would: by a descriptor of its own, with its number in the file.
    private final class Holder {
        private let descriptor: Int32

        init(_ path: String, text: String) throws {
            descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            ftruncate(descriptor, 0)
            _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
        }

        deinit { close(descriptor) }
    }

    /// The holder, here this process by another descriptor, signed nothing; what the file says is of one that is gone.
    @Test func anAppendThatWaitsTooLongNamesWhoHoldsTheLockNow() throws {
        let log = try TemporaryLog([.sample(1)])
        var options = EventStore.Options()
        options.wait = .milliseconds(30)
        let store = try EventStore.open(at: log.path, options: options)
        do {
            let holder = try Holder(log.path + "/write.lock", text: "4242424\nother-program\n")
            let error = #expect(throws: EventLogError.self) { try store.append([.sample(2)]) }
            #expect(error?.code == .locked)
            #expect(error?.description.contains("424242") == false)
            #if os(Linux)
            #expect(error?.description.contains("process \(getpid()) holds the lock") == true)
            #endif
            #expect(try store.read { $0.head } == SequenceNumber(1))
            withExtendedLifetime(holder) {}
        }
        #expect(try store.append([.sample(2)]).first == SequenceNumber(2))
    }

    @Test func aHolderThatSignedIsNamedWithItsCommand() throws {
        let log = try TemporaryLog([.sample(1)])
        var options = EventStore.Options()
        options.wait = .milliseconds(30)
        let store = try EventStore.open(at: log.path, options: options)
        let holder = try Holder(log.path + "/write.lock", text: "\(getpid())\nother-program\n")
        let error = #expect(throws: EventLogError.self) { try store.append([.sample(2)]) }
        #expect(error?.description.contains("process \(getpid()) (other-program)") == true)
        withExtendedLifetime(holder) {}
    }

    @Test func aSourceHasOneRecorderAtATime() throws {
        let log = try TemporaryLog()
        let source = try SourceName("vibe")
        let lock = try log.store.acquireSourceLock(source)
        let error = #expect(throws: EventLogError.self) { try log.store.acquireSourceLock(source) }
        #expect(error?.code == .locked)
        #expect(error?.description.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
        _ = try log.store.acquireSourceLock(try SourceName("other"))
        lock.release()
        _ = try log.store.acquireSourceLock(source)
    }
}
