public import Foundation

/// Folders that tests read.
public enum PackageRoot {
    /// The package's own folder.
    public static let url = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The scenarios.
    public static let scenarios = url.appending(path: "Fixtures/events")

    /// Material that stands beside the package and is not part of it; `nil` where it is missing. A test that needs it is
    /// enabled if it is there, so that a run without it shows the test as skipped.
    public static func shared(_ path: String) -> URL? {
        let file = url.deletingLastPathComponent().appending(path: "shared").appending(path: path)
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }
}
