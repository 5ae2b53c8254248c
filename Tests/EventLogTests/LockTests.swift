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

    @Test func anAppendThatWaitsTooLongNamesTheHolder() throws {
        let log = try TemporaryLog([.sample(1)])
        var options = EventStore.Options()
        options.wait = .milliseconds(30)
        let store = try EventStore.open(at: log.path, options: options)
        do {
            let holder = try Holder(log.path + "/write.lock", text: "424242\nother-program\n")
            let error = #expect(throws: EventLogError.self) { try store.append([.sample(2)]) }
            #expect(error?.code == .locked)
            #expect(error?.description.contains("424242 (other-program)") == true)
            #expect(try store.read { $0.head } == SequenceNumber(1))
            withExtendedLifetime(holder) {}
        }
        #expect(try store.append([.sample(2)]).first == SequenceNumber(2))
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

    @Test func aLogThatMayNotBeWrittenCanStillBeRead() throws {
        let log = try TemporaryLog([.sample(1), .sample(2)])
        let copy = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: log.path, toPath: copy.path("L"))
        let files = ["gen-000001/data.mdb", "gen-000001/lock.mdb", "write.lock", "gen-000001", ""]
        for file in files { chmod(copy.path("L/" + file), file.hasSuffix(".mdb") ? 0o400 : 0o500) }
        defer { for file in files.reversed() { chmod(copy.path("L/" + file), 0o700) } }
        let store = try EventStore.open(at: copy.path("L"))
        #expect(try store.read { $0.head } == SequenceNumber(2))
        // Root may write everything; others get an error and no change.
        if getuid() != 0 {
            let error = #expect(throws: EventLogError.self) { try store.append([.sample(3)]) }
            #expect(error?.code == .io)
        }
    }
}
