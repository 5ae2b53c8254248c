import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Threads for work that blocks: on a pipe, or for time to pass.
package enum DetachedThread {
    /// Runs `body` on a thread of its own that nothing joins; on one of Dispatch's if the system gives none.
    package static func start(stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) {
        // The new thread takes over this reference in `runWork`; if no thread starts, it is released below.
        let work = Unmanaged.passRetained(Work(body))
        let isStarted = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { space in
            guard let attributes = space.baseAddress, pthread_attr_init(attributes) == 0 else { return false }
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setstacksize(attributes, stackBytes)
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            #if canImport(Darwin)
            var thread: pthread_t?
            #else
            var thread = pthread_t()
            #endif
            return pthread_create(&thread, attributes, runWork, work.toOpaque()) == 0
        }
        guard !isStarted else { return }
        work.release()
        DispatchQueue.global().async(execute: body)
    }

    /// The result of blocking work, which is done on a thread of its own: tasks share a thread for each core.
    ///
    /// - Throws: What `body` throws. A cancelled task waits for it all the same.
    package static func result<Value: Sendable>(
        stackBytes: Int = 1 << 20,
        of body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start(stackBytes: stackBytes) { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Blocks the calling thread. `usleep` need not take a second or more, so it is called for half seconds.
    package static func sleep(milliseconds: Int) {
        for _ in 0..<milliseconds / 500 { usleep(500_000) }
        usleep(useconds_t(milliseconds % 500 * 1_000))
    }
}

/// Carries the closure through the one pointer that `pthread_create` passes on.
private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

#if canImport(Darwin)
private func runWork(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
    return nil
}
#else
private func runWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
}
#endif
