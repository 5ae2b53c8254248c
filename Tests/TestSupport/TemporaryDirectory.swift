public import Foundation

/// A folder of one test's own, removed when the last reference goes.
public final class TemporaryDirectory: Sendable {
    /// The folder.
    public let url: URL

    /// Makes an empty folder.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "eventlog-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of something in the folder.
    public func path(_ name: String) -> String {
        url.appending(path: name).path
    }
}
