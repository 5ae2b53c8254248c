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

    /// A writer stores the size of its map, and a size that is no power of two counts as damage.
    @Test func aFileBeyondTheFirstMapIsOpenedWithAPowerOfTwo() throws {
        let directory = try TemporaryDirectory()
        func open() throws -> Environment {
            try Environment(
                folder: try Folder(at: directory.path("")),
                tables: ["t"],
                access: .create,
                pages: .own,
                mapBytes: 1 << 20
            )
        }
        let value = [UInt8](repeating: 7, count: 100_000)
        do {
            let environment = try open()
            try environment.growMap()
            let transaction = try environment.beginWrite()
            for number in 0..<13 as Range<UInt8> {
                try transaction.putSummed(value, at: [number], in: environment.tables[0])
            }
            try transaction.commit()
        }
        let again = try open()
        #expect(try again.information().mapBytes == 2 << 20)
        try again.growMap()
        #expect(try again.information().mapBytes == 4 << 20)
    }
}
