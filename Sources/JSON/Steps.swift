/// Counts the steps of a task: entries looked at, things compared. Tests find what takes more than linear time by them, on any
/// machine.
package enum Steps {
    /// Adds to the count of the task, if it counts.
    @inline(__always)
    package static func count(_ steps: @autoclosure () -> Int) {
        #if DEBUG
        counter?.count += steps()
        #endif
    }

    #if DEBUG
    /// For one task.
    package final class Counter: @unchecked Sendable {
        package fileprivate(set) var count = 0

        package init() {}
    }

    /// Gets the count of a task. A release build does not count.
    @TaskLocal package static var counter: Counter?
    #endif
}
