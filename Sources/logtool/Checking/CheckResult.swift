import EventLogTesting
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The result of one fixture.
struct CheckResult: Sendable {
    let name: String
    /// Why the fixture cannot be used; `nil` if it can.
    let trouble: String?
    /// The states that differ from the expected ones; empty if all agree.
    let mismatches: [FixtureMismatch]
    let duration: Duration

    /// True if the fixture cannot be read or recorded.
    var isUnusable: Bool { trouble != nil }

    /// Checks fixtures, as many at a time as the machine has processors. Results are in the order of the folders. A
    /// check starts when another one ends, so no more fixtures than that are in memory.
    ///
    /// - Parameter updates: Whether to write mismatching states as the expected ones.
    static func check(_ folders: [URL], updates: Bool) async -> [CheckResult] {
        await withTaskGroup(of: (Int, CheckResult).self) { group in
            var results = [CheckResult?](repeating: nil, count: folders.count)
            let width = max(ProcessInfo.processInfo.activeProcessorCount, 1)
            var next = 0
            while next < folders.count || !group.isEmpty {
                while next < folders.count, next < width {
                    add(next, folders[next], updates, to: &group)
                    next += 1
                }
                guard let (index, result) = await group.next() else { break }
                results[index] = result
                if next < folders.count {
                    add(next, folders[next], updates, to: &group)
                    next += 1
                }
            }
            assert(next == folders.count, "each fixture was checked")
            return results.compactMap { $0 }
        }
    }

    /// Starts a check in the group; the index puts its result into the order of the folders.
    private static func add(
        _ index: Int,
        _ folder: URL,
        _ updates: Bool,
        to group: inout TaskGroup<(Int, CheckResult)>
    ) {
        group.addTask { (index, check(folder, updates: updates)) }
    }

    /// Checks one fixture. Errors become its `trouble`, so that the others are checked all the same.
    private static func check(_ folder: URL, updates: Bool) -> CheckResult {
        let begin = ContinuousClock.now
        let result = { (trouble: String?, mismatches: [FixtureMismatch]) in
            CheckResult(
                name: folder.lastPathComponent,
                trouble: trouble,
                mismatches: mismatches,
                duration: begin.duration(to: .now)
            )
        }
        do {
            let fixture = try Fixture(at: folder)
            // All states of a fixture are compared: the canonical one, profiles and earlier points.
            let mismatches = try fixture.states.compactMap { try fixture.mismatch(for: $0) }
            if updates { for mismatch in mismatches { _ = try fixture.update(mismatch.state) } }
            return result(nil, mismatches)
        } catch {
            return result(String(describing: error), [])
        }
    }
}
