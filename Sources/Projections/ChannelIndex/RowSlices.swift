import Dispatch
import Synchronization

/// Many rows, made in slices by several threads and given out in order by the one that asks, which makes slices, too,
/// while the next one is not ready.
final class RowSlices: Sendable {
    /// Some 150 KB: what is given out in small pieces costs the system twice as much to write.
    private static let rowCount = 512
    private static let sliceBytes = 1 << 18
    private static let helperCount = 3
    /// A helper that is so many slices ahead of a slow reader ends: then it is not the making that takes the time. Memory
    /// that was not in use before costs as much as what is written there.
    private static let aheadMax = 6

    /// The bytes of a slice.
    ///
    /// Unchecked: whoever takes one from the list or makes one is the only one to have it.
    private final class Slice: @unchecked Sendable {
        var writer = CanonicalWriter(byteCount: RowSlices.sliceBytes)
    }

    private struct Progress {
        /// The first slice that nobody makes yet.
        var next = 0
        var givenCount = 0
        var ready: [Int: Slice] = [:]
        var free: [Slice] = []
    }

    private enum Step {
        case give(Slice)
        case make(Int)
        case wait
    }

    private let rows: Range<Int>
    private let sliceCount: Int
    private let write: @Sendable (Int, inout CanonicalWriter) -> Void
    private let progress = Mutex(Progress())
    private let finished = DispatchSemaphore(value: 0)

    /// - Parameter write: Writes one row, by whatever thread.
    init(_ rows: Range<Int>, _ write: @escaping @Sendable (Int, inout CanonicalWriter) -> Void) {
        self.rows = rows
        self.write = write
        sliceCount = (rows.count + Self.rowCount - 1) / Self.rowCount
    }

    /// Gives out the bytes of all slices in order; what is given is valid during the call.
    func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        // Helpers that come late find nothing to do.
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
            $0.givenCount = given
            $0.free.append(slice)
        }
    }

    private func help() {
        while let index = claim() {
            make(index)
            finished.signal()
        }
    }

    private func claim() -> Int? {
        progress.withLock {
            guard $0.next < sliceCount, $0.next - $0.givenCount < Self.aheadMax else { return nil }
            $0.next += 1
            return $0.next - 1
        }
    }

    private func make(_ index: Int) {
        let slice = progress.withLock { $0.free.popLast() } ?? Slice()
        slice.writer.reset()
        let start = rows.lowerBound + index * Self.rowCount
        for row in start..<min(start + Self.rowCount, rows.upperBound) { write(row, &slice.writer) }
        progress.withLock { $0.ready[index] = slice }
    }
}
