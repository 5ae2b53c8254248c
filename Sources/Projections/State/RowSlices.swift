import Dispatch
import Synchronization

/// Makes many rows in slices on several threads and gives them out in order on the calling thread, which makes slices
/// too while the next one is not ready.
///
/// For one call of `forEach`. `progress` is the only shared state; a mutex guards it.
final class RowSlices: Sendable {
    /// Rows in a slice, about 150 KB of messages: small pieces cost the system twice as much to write.
    private static let rowCount = 512
    /// The room of a slice at first; it grows if its rows need more.
    private static let sliceBytes = 1 << 18
    /// Threads beside the caller's.
    private static let helperCount = 3
    /// How many slices helpers may be ahead of the reader. A helper that would go further ends, because then the reader
    /// is the slow part. More slices would also need fresh memory, which costs as much as writing the rows.
    private static let aheadMax = 6

    /// The bytes of a slice.
    ///
    /// `@unchecked Sendable` holds because only one thread has a slice at a time: it leaves and enters the lists of
    /// `Progress` under the mutex.
    private final class Slice: @unchecked Sendable {
        var writer = CanonicalWriter(byteCount: RowSlices.sliceBytes)
    }

    private struct Progress {
        /// The first slice that no thread has begun. Slices are begun in order, so the reader's next one is never left
        /// out.
        var next = 0
        /// How many slices were given out.
        var givenCount = 0
        /// Finished slices that were not given out, by number.
        var ready: [Int: Slice] = [:]
        /// Slices to use again.
        var free: [Slice] = []
    }

    /// The reader's next step: give out the slice that is ready, make one itself, or wait for a helper.
    private enum Step {
        case give(Slice)
        case make(Int)
        case wait
    }

    private let rows: Range<Int>
    private let sliceCount: Int
    private let write: @Sendable (Int, inout CanonicalWriter) -> Void
    private let progress = Mutex(Progress())
    /// Signalled by helpers after each slice that they have made. May have signals for slices that the reader already
    /// found ready: a wait may then return too early, and the reader looks again.
    private let finished = DispatchSemaphore(value: 0)

    /// - Parameter write: writes one row; called by any thread, by several at once.
    init(_ rows: Range<Int>, _ write: @escaping @Sendable (Int, inout CanonicalWriter) -> Void) {
        self.rows = rows
        self.write = write
        sliceCount = (rows.count + Self.rowCount - 1) / Self.rowCount
    }

    /// Gives out the bytes of all slices in order; they are valid only during the call of `body`. Must be called once.
    func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        // Helpers that start late find nothing to do, even if `body` has thrown. Those at work finish their slice
        // unread.
        defer { progress.withLock { $0.next = sliceCount } }
        for _ in 0..<min(Self.helperCount, max(0, sliceCount - 1)) {
            DispatchQueue.global(qos: .userInitiated).async { self.help() }
        }
        var given = 0
        while given < sliceCount {
            switch step(towards: given) {
            case .give(let slice):
                try slice.writer.withBytes(body)
                given += 1
                free(slice, given)
            case .make(let index): make(index)
            case .wait: finished.wait()
            }
        }
    }

    /// `given` is the number of the slice that comes next. It waits only if every slice has been begun: then a helper
    /// makes slice `given` and signals.
    private func step(towards given: Int) -> Step {
        progress.withLock {
            if let slice = $0.ready.removeValue(forKey: given) { return .give(slice) }
            guard $0.next < sliceCount else { return .wait }
            $0.next += 1
            return .make($0.next - 1)
        }
    }

    private func free(_ slice: Slice, _ given: Int) {
        progress.withLock {
            let before = $0.givenCount
            assert(given == before + 1, "slices are given out one after another")
            $0.givenCount = given
            $0.free.append(slice)
        }
    }

    /// A helper's work; runs on any thread of the global queue.
    private func help() {
        while let index = claim() {
            make(index)
            finished.signal()
        }
    }

    /// The number of a slice to make; `nil` if none is left or the reader is too far behind.
    private func claim() -> Int? {
        progress.withLock {
            guard $0.next < sliceCount, $0.next - $0.givenCount < Self.aheadMax else { return nil }
            $0.next += 1
            return $0.next - 1
        }
    }

    private func make(_ index: Int) {
        let slice = progress.withLock { $0.free.popLast() } ?? Slice()
        assert(index < sliceCount, "no slice begins behind the last row")
        slice.writer.reset()
        let start = rows.lowerBound + index * Self.rowCount
        for row in start..<min(start + Self.rowCount, rows.upperBound) { write(row, &slice.writer) }
        progress.withLock { $0.ready[index] = slice }
    }
}
