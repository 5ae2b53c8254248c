import Dispatch
import Synchronization

/// Makes values in parallel, on as many threads as the machine has cores, and returns them in order. Blocks the calling
/// thread until all are made, so it is not for tasks.
///
/// All values are made even if one fails.
///
/// For values that take far longer than a thread takes to start, such as folds.
///
/// - Throws: The first error in order of the indexes.
func concurrentMap<Value: Sendable>(
    _ indexes: Range<Int>,
    _ make: @Sendable (Int) throws -> Value
) throws -> [Value] {
    // One value needs no thread.
    if indexes.count == 1 { return [try make(indexes.lowerBound)] }
    let results = Mutex([Result<Value, any Error>?](repeating: nil, count: indexes.count))
    // The mutex is held for an assignment alone, so threads hardly wait for each other.
    DispatchQueue.concurrentPerform(iterations: indexes.count) { place in
        let result = Result { try make(indexes.lowerBound + place) }
        results.withLock { $0[place] = result }
    }
    let values: [Value] = try results.withLock { $0 }.compactMap { try $0?.get() }
    assert(values.count == indexes.count, "each index has a value")
    return values
}
