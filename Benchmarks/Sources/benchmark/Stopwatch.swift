import Foundation
import Synchronization

/// Adds up how long the turns of one contender take.
struct Stopwatch {
    private var turns: [(events: Int, seconds: Double)] = []

    mutating func measure(_ events: Int, _ body: () throws -> Void) rethrows {
        turns.append((events, try seconds(body)))
    }

    /// Events a second over all turns.
    var rate: Double { Self.rate(of: turns[...]) }

    /// Events a second in each part of so many events, in order.
    func rates(per events: Int) -> [Double] {
        let count = max(1, events / max(1, turns.first?.events ?? 1))
        return stride(from: 0, to: turns.count, by: count).map {
            Self.rate(of: turns[$0..<min($0 + count, turns.count)])
        }
    }

    private static func rate(of turns: ArraySlice<(events: Int, seconds: Double)>) -> Double {
        Double(turns.reduce(0) { $0 + $1.events }) / turns.reduce(0) { $0 + $1.seconds }
    }
}

/// Seconds that a piece of work takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let duration = try clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

/// Seconds of processor time that a piece of work of this process takes, on whatever cores.
func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
    func used() -> Double {
        var usage = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &usage)
        return Double(usage.tv_sec) + Double(usage.tv_nsec) / 1e9
    }
    let start = used()
    try body()
    return used() - start
}

/// What a process holds in memory that is no file.
enum Memory {
    /// RssAnon in MB; zero where the system does not say.
    static var anonymousMegabytes: Double { Double(anonymousBytes() ?? 0) / 1_024_000 }

    /// RssAnon of a process; `nil` where the system does not say.
    static func anonymousBytes(of process: String = "self") -> Int? { bytes(of: process, "RssAnon:") }

    /// A size in the status of a process; `nil` where the system does not say.
    static func bytes(of process: String, _ field: String) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) })
        else { return nil }
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }
}

/// Looks every few milliseconds at the memory of this process, on a thread of its own.
final class MemoryPeak: Sendable {
    private let state = Mutex((megabytes: 0.0, isOver: false))

    init() {
        Thread.detachNewThread { [self] in
            while state.withLock({ state in
                state.megabytes = max(state.megabytes, Memory.anonymousMegabytes)
                return !state.isOver
            }) { usleep(10_000) }
        }
    }

    /// The most that was seen. Stops looking.
    func end() -> Double {
        state.withLock { state in
            state.isOver = true
            return max(state.megabytes, Memory.anonymousMegabytes)
        }
    }
}
