import CBaseline

/// What LMDB does with the same bytes and nothing else, in C.
final class Bare {
    struct Failure: Error {
        let code: Int32
    }

    private let environment: OpaquePointer

    init(at path: String) throws {
        guard let environment = baseline_open(path) else { throw Failure(code: -1) }
        self.environment = environment
    }

    deinit {
        baseline_close(environment)
    }

    func append(_ corpus: borrowing Corpus, batch: Int) throws {
        try append(corpus.bytes, offsets: corpus.offsets, batch: batch)
    }

    /// Appends records that lie one behind the other; `offsets` are their beginnings and the end of the last.
    func append(_ bytes: [UInt8], offsets: [UInt64], batch: Int) throws {
        let code = bytes.withUnsafeBufferPointer { bytes in
            offsets.withUnsafeBufferPointer { offsets in
                baseline_append(environment, bytes.baseAddress, offsets.baseAddress, offsets.count - 1, batch)
            }
        }
        if code != 0 { throw Failure(code: code) }
    }

    /// The sum of every byte of every value, and how many values there are.
    func scan() throws -> (sum: UInt64, count: UInt64) {
        var sum: UInt64 = 0
        var count: UInt64 = 0
        let code = baseline_scan(environment, &sum, &count)
        if code != 0 { throw Failure(code: code) }
        return (sum, count)
    }
}
