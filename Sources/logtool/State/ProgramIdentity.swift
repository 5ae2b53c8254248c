import Foundation

/// Tells this build of the program from every other.
enum ProgramIdentity {
    static let version = "logtool 0.1.0"

    /// The version, and the size and time of the program's own file: what one build kept of a log's states is nothing to
    /// another, even if nobody thought of giving it another version.
    static let build: String = {
        let path = Bundle.main.executablePath ?? CommandLine.arguments.first ?? ""
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let size = (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
        let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return "\(version) \(size) \(time)"
    }()
}
