package import EventLog
import Synchronization

/// States of one log in memory, evenly spread over it, so that the state at any point is a short fold away.
///
/// The states share the memory of what they have in common. They follow one generation of the log; those of another one are
/// dropped. Answers are the same with and without them.
package final class StatePoints: Sendable {
    /// With more states than these every second one is dropped, and the distance doubles.
    private static let countMax = 24

    private struct Kept {
        /// Ascending.
        var states: [LogState] = []
        var spacing: UInt64
        var generation: UInt32 = 0
        var isFilling = false
    }

    /// The fewest events between two states; a shorter log needs none.
    private let spacingMin: UInt64
    private let kept: Mutex<Kept>

    /// Makes one without states.
    package init(spacing: UInt64 = 16_384) {
        spacingMin = spacing
        kept = Mutex(Kept(spacing: spacing))
    }

    /// The sequences of the states, ascending.
    package var sequences: [SequenceNumber] { kept.withLock { $0.states.map(\.sequence) } }

    /// The last state at or before a point; `nil` if there is none.
    package func nearest(through point: SequenceNumber, in session: borrowing ReadSession) -> LogState? {
        let generation = session.generationNumber
        return kept.withLock { kept in
            kept.generation == generation ? kept.states.last { $0.sequence <= point } : nil
        }
    }

    /// Whether so many events lie behind the last state that `fill` would add one.
    package func isBehind(_ session: borrowing ReadSession, from first: SequenceNumber) -> Bool {
        let (generation, head) = (session.generationNumber, session.head.rawValue)
        return kept.withLock { kept in
            if kept.isFilling { return false }
            let last = kept.generation == generation ? kept.states.last?.sequence.rawValue : nil
            return head >= (last ?? first.rawValue) + kept.spacing
        }
    }

    /// Adds states from the last one, or from a first event, up to the head.
    ///
    /// Cost: folds the events on the way, on the calling thread. Other threads may ask meanwhile.
    ///
    /// - Parameters:
    ///   - first: The first event that is asked for.
    ///   - options: Those by which the states are folded, always the same.
    /// - Throws: as `Replay.logState`.
    package func fill(
        over session: borrowing ReadSession,
        from first: SequenceNumber,
        options: ReplayOptions
    ) throws {
        let generation = session.generationNumber
        let begins = kept.withLock { kept in
            if kept.isFilling { return false }
            if kept.generation != generation { kept = Kept(spacing: spacingMin, generation: generation) }
            kept.isFilling = true
            return true
        }
        guard begins else { return }
        defer { kept.withLock { $0.isFilling = false } }
        let last = kept.withLock { $0.states.last }
        let before = SequenceNumber(max(first.rawValue, 1) - 1)
        var state = try last ?? Replay.logState(of: session, through: before, options: options)
        while !Task.isCancelled {
            let end = SequenceNumber(state.sequence.rawValue + kept.withLock { $0.spacing })
            guard end <= session.head else { return }
            state = try Replay.advance(state, over: session, through: end, options: options)
            add(state)
        }
    }

    private func add(_ state: LogState) {
        kept.withLock { kept in
            kept.states.append(state)
            guard kept.states.count > Self.countMax else { return }
            kept.spacing *= 2
            // The last one stays, because the next one is folded from it.
            let count = kept.states.count
            kept.states = kept.states.enumerated().filter { (count - 1 - $0.offset) % 2 == 0 }.map(\.element)
        }
    }
}
