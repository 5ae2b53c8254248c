public import Foundation

/// Folders that tests read.
public enum PackageRoot {
    /// The package's own folder.
    public static let url = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The scenarios.
    public static let scenarios = url.appending(path: "Fixtures/events")

    /// Material that stands beside the package and is not part of it; `nil`, with a printed note, where it is missing.
    public static func shared(_ path: String) -> URL? {
        let file = url.deletingLastPathComponent().appending(path: "shared").appending(path: path)
        if FileManager.default.fileExists(atPath: file.path) { return file }
        print("note: skipped, for \(path) is not in the folder `shared` beside the package")
        return nil
    }
}
