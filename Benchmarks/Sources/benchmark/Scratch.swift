import Foundation

/// A folder for the logs of one run, removed at its end.
final class Scratch {
    private let url: URL
    private var count = 0

    init(in folder: String) throws {
        url = URL(filePath: folder).appending(path: "eventlog-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// A path where nothing is yet.
    func fresh(_ name: String) -> String {
        count += 1
        return url.appending(path: "\(count)-\(name)").path
    }

    /// An empty folder.
    func freshFolder(_ name: String) throws -> String {
        let path = fresh(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}

/// Seconds that a piece of work takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let duration = try clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}
