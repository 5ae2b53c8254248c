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

    /// A path for a file that is written again and again.
    func file(_ name: String) -> String {
        url.appending(path: name).path
    }

    /// The bytes that the files of a folder occupy; zero where there is none.
    static func bytes(of folder: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(0) { sum, name in
            var information = stat()
            return stat("\(folder)/\(name)", &information) == 0 ? sum + Int(information.st_blocks) * 512 : sum
        }
    }

    /// An empty folder.
    func freshFolder(_ name: String) throws -> String {
        let path = fresh(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}
