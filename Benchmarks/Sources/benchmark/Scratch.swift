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

    /// The bytes that the files below a path take on the disk.
    static func diskBytes(of path: String) -> Int {
        let keys: Set<URLResourceKey> = [.totalFileAllocatedSizeKey]
        let files = FileManager.default.enumerator(at: URL(filePath: path), includingPropertiesForKeys: Array(keys))
        var total = 0
        for case let file as URL in files ?? FileManager.DirectoryEnumerator() {
            total += (try? file.resourceValues(forKeys: keys).totalFileAllocatedSize) ?? 0
        }
        return total
    }
}

/// Seconds that a piece of work takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let duration = try clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

/// The process's anonymous memory in bytes now, from /proc; `nil` where there is none.
func anonymousMemory() -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") })
    else { return nil }
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
}
