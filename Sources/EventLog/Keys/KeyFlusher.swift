import Dispatch
import Synchronization

/// A closed table of keys: those of the held events from one sequence to another.
final class FrozenKeys: Sendable {
    let keys: KeyIndex
    /// The secret that the hashes were made with.
    let secret: Hash256
    /// The table covers the sequences from `first` to `last`, both included, also those of events without a key.
    let first: UInt64
    let last: UInt64
    /// The greatest keys up to the last event, as `KeyMaxima.bytes`.
    let maxima: [UInt8]

    init(keys: KeyIndex, secret: Hash256, first: UInt64, last: UInt64, maxima: [UInt8]) {
        self.keys = keys
        self.secret = secret
        self.first = first
        self.last = last
        self.maxima = maxima
    }
}

/// Writes closed tables of keys as runs, on a thread of its own. Until a table is written, it is looked up in memory.
///
/// A failure costs memory and time, never an append (I17): a table that cannot be written stays in memory, and is tried
/// again with the next one.
final class KeyFlusher: Sendable {
    /// Where to look a key up: first in the tables, then in the runs. Reading the runs after `places` was read misses
    /// nothing, because a table leaves the list only once a run covers it.
    struct Places {
        /// Closed tables that no run covers yet, the oldest first, without gaps between them.
        var frozen: [FrozenKeys] = []
        /// `nil` until runs were found or stored.
        var runs: KeyRuns?
        /// The last sequence that the runs must cover.
        var covered: UInt64 = 0
    }

    private struct State {
        var places = Places()
        /// Whether `run` is queued or running, so that at most one is.
        var isRunning = false
        var isForeign = false
    }

    /// How many tables may wait. Beyond that appends wait for the thread, so that memory does not grow without bound.
    private static let waitingCountMax = 8
    private let generation: Generation
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "eventlog.keys")

    init(_ generation: Generation, runs: KeyRuns?, covered: UInt64) {
        self.generation = generation
        state = Mutex(State(places: Places(runs: runs, covered: covered)))
    }

    var places: Places { state.withLock { $0.places } }

    /// Whether another process has made runs with another secret, so that no hash here fits them.
    var isForeign: Bool { state.withLock { $0.isForeign } }

    /// Takes a table; tables come in the order of their sequences. Blocks while too many wait.
    func add(_ frozen: FrozenKeys) {
        let starts = state.withLock { state in
            let last = state.places.frozen.last?.last
            assert(last.map { $0 + 1 == frozen.first } ?? true, "closed tables follow one another without a gap")
            state.places.frozen.append(frozen)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { queue.async { self.run() } }
        // The thread also writes tables between the parts of a merge.
        while state.withLock({ $0.isRunning && $0.places.frozen.count > Self.waitingCountMax }) {
            pause(milliseconds: 1)
        }
    }

    /// Removes the runs, which cannot be relied on, and drops the tables that wait. The caller has to take all keys
    /// from the log.
    func giveUp() {
        let runs = state.withLock { state in
            state.places.frozen = []
            return state.places.runs
        }
        runs?.discard()
    }

    /// Waits until every table is written that can be.
    func drain() {
        queue.sync {}
    }

    /// Writes tables until none waits, or one cannot be written.
    private func run() {
        var canWrite = true
        repeat {
            canWrite = storeWaiting()
            // Under the lock, so that a table is either seen here or finds that nothing runs.
        } while state.withLock { state in
            state.isRunning = canWrite && !state.places.frozen.isEmpty
            return state.isRunning
        }
    }

    /// Writes all tables that wait and merges runs; false if that failed.
    private func storeWaiting() -> Bool {
        do {
            let runs = try places.runs ?? KeyRuns(try generation.derivedStore())
            try storeAll(runs)
            // A merge may take long. Tables that are closed in the meantime are stored between its commits.
            try runs.merge { try storeAll(runs) }
            return true
        } catch is KeyRuns.Foreign {
            state.withLock { $0.isForeign = true }
        } catch {
            // The tables stay where they are. A lookup in lost runs finds out by itself.
        }
        return false
    }

    private func storeAll(_ runs: KeyRuns) throws {
        while let frozen = places.frozen.first {
            try runs.store(frozen, prefix: try generation.read { try $0.prefix(through: frozen.last) })
            state.withLock { state in
                state.places.runs = runs
                state.places.covered = max(state.places.covered, frozen.last)
                // `giveUp` may have emptied the list in between.
                if state.places.frozen.first === frozen { state.places.frozen.removeFirst() }
            }
        }
    }
}
