#if Recorders
import Synchronization

/// A time that goes on only while tasks do, so that a loaded machine never looks like a server that is dead.
///
/// It is counted in steps and not measured: where other tests hold every thread, nothing is counted, and no deadline comes.
final class CountedTime: Sendable {
    private final class Count: Sendable {
        let steps = Mutex(0)
    }

    private static let step = Duration.milliseconds(2)

    private let count = Count()
    private let speed: Double
    private let counter: Task<Void, Never>

    /// - Parameter speed: how much faster than the world it goes.
    init(speed: Double) {
        self.speed = speed
        counter = Task { [count] in
            while (try? await Task.sleep(for: Self.step)) != nil { count.steps.withLock { $0 += 1 } }
        }
    }

    deinit {
        counter.cancel()
    }

    /// What has gone by since the start.
    var elapsed: Duration { Self.step * (speed * Double(count.steps.withLock { $0 })) }

    /// Waits for as long a time of this one.
    func sleep(for duration: Duration) async throws {
        let end = elapsed + duration
        repeat {
            try await Task.sleep(for: max((end - elapsed) / speed, .zero))
        } while elapsed < end
    }
}
#endif
