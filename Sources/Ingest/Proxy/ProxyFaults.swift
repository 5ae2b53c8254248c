#if Recorders
import Synchronization

/// Faults that a proxy makes in messages from the server to the client: of WebSockets and of event streams.
///
/// Messages are counted over the run, from 1.
public struct ProxyFaults: Sendable {
    /// The messages behind which the connection is cut.
    public var cutsAfter: Set<Int> = []
    /// How long after its opening every connection is cut.
    public var cutEvery: Duration?
    /// How long each message waits.
    public var delay: Duration?
    /// The messages that do not reach the client.
    public var drops: Set<Int> = []
    /// The messages that change places with the next one of the same connection.
    public var swaps: Set<Int> = []
    /// The messages that come twice.
    public var duplicates: Set<Int> = []
    /// Whether a cut leaves the client's connection open, with nothing passing any more.
    public var isHalfOpen = false

    /// No faults.
    public init() {}

    /// Whether messages must be told apart before they pass.
    var worksOnMessages: Bool { !cutsAfter.isEmpty || delay != nil || changesOrder }

    /// Whether a shared compression window would break.
    var changesOrder: Bool { !drops.isEmpty || !swaps.isEmpty || !duplicates.isEmpty }
}

/// Counts the messages of a run. All connections share one.
final class FaultCounter: Sendable {
    /// What happens to one message.
    struct Verdict {
        let number: Int
        let isDropped: Bool
        let isDoubled: Bool
        let isHeld: Bool
        let isCut: Bool
    }

    private let faults: ProxyFaults
    private let count = Mutex(0)

    init(_ faults: ProxyFaults) {
        self.faults = faults
    }

    func next() -> Verdict {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return Verdict(
            number: number,
            isDropped: faults.drops.contains(number),
            isDoubled: faults.duplicates.contains(number),
            isHeld: faults.swaps.contains(number),
            isCut: faults.cutsAfter.contains(number)
        )
    }
}
#endif
