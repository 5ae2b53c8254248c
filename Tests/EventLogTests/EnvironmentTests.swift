import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import EventLog

@Suite struct EnvironmentTests {
    /// A thread that asks for figures waits while another one reopens the environment.
    @Test func whoeverAsksWhileItIsReopenedWaits() throws {
        let directory = try TemporaryDirectory()
        let environment = try Environment(
            folder: try Folder(at: directory.path("")),
            tables: ["t"],
            access: .create,
            pages: .own
        )
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<200 {
                do {
                    if thread == 0 {
                        environment.distrust()
                        _ = try environment.beginWrite()
                    } else {
                        #expect(try environment.information().mapBytes > 0)
                        #expect(environment.clearDeadReaders() == 0)
                        _ = environment.readers()
                    }
                } catch {
                    failures.withLock { $0 += 1 }
                }
            }
        }
        #expect(failures.withLock { $0 } == 0)
    }
}
