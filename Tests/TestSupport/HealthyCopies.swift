public import EventLog
import Foundation
public import Testing

/// Copies of a log that everybody can open, made by each way that there is: a backup, a copy of its folder, a salvage.
/// Removed with the last reference.
public struct HealthyCopies: Sendable {
    private let directory: TemporaryDirectory
    /// The copies. No mark of the log's covers them, so whoever opens one checks its pages.
    public let paths: [String]

    fileprivate init(_ directory: TemporaryDirectory, _ names: [String]) {
        self.directory = directory
        paths = names.map { directory.path($0) }
    }
}

/// Expects that a log is whole, that its backup, a plain copy and a salvage are, and that all of them have its root.
///
/// - Parameter name: Names the log in messages.
@discardableResult
public func expectHealthy(
    _ store: EventStore,
    _ name: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> HealthyCopies {
    let directory = try TemporaryDirectory()
    let copies = HealthyCopies(directory, ["backup", "copy", "salvaged"])
    let expected = try store.verify()
    #expect(expected.isIntact, "\(name): \(expected.text)", sourceLocation: sourceLocation)
    let backup = try store.backup(to: copies.paths[0])
    #expect(backup.isIntact && backup.root == expected.root, "backup of \(name)", sourceLocation: sourceLocation)
    try FileManager.default.copyItem(atPath: store.path, toPath: copies.paths[1])
    let salvage = try EventStore.salvage(store.path, to: copies.paths[2], now: Timestamp(seconds: 2_000_000))
    #expect(
        salvage.lost.isEmpty && salvage.keepsIdentity && salvage.root == expected.root,
        "salvage of \(name): \(salvage)",
        sourceLocation: sourceLocation
    )
    for path in copies.paths {
        // Opening comes first: `verify(at:)` does not rely on the check that it makes.
        let report = try EventStore.open(at: path).verify()
        #expect(report.isIntact, "\(path) of \(name): \(report.text)", sourceLocation: sourceLocation)
        #expect(
            report.root == expected.root && report.head == expected.head && report.whole == expected.whole
                && report.redacted == expected.redacted && report.dropped == expected.dropped,
            "\(path) of \(name)",
            sourceLocation: sourceLocation
        )
        #expect(try EventStore.verify(at: path).isIntact, "\(path) of \(name)", sourceLocation: sourceLocation)
    }
    return copies
}

extension VerifyReport {
    fileprivate var text: String { damage.map { "\($0)" } ?? "intact" }
}
