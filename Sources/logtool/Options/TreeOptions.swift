import ArgumentParser
import EventLog
import Ingest
import Shipping

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a tree is read, and what its server is told.
struct TreeOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Whose signature the checkpoint must have: NAME+ID+BASE64; may be given often.",
            valueName: "key"
        )
    )
    var verifier: [String] = []

    @OptionGroup var server: ServerOptions

    /// The keys of `--verifier`.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` for what is none.
    func verifiers() throws -> [VerifierKey] { try verifier.map { try VerifierKey($0) } }

    /// Whether a text names a tree on a web server.
    static func isURL(_ text: String) -> Bool {
        ["https://", "http://"].contains { text.lowercased().hasPrefix($0) }
    }

    /// The tree at a path or URL.
    ///
    /// - Throws: `EventLogError` if there is no such folder; `IngestError` for a URL that cannot be used; `Failure` for a URL in a build
    ///   without recorders.
    func source(_ place: String, operation: String) throws -> any TreeSource {
        guard Self.isURL(place) else { return try FolderTree(at: place) }
        #if Recorders
        if server.credentials != nil {
            throw Failure(
                "\(operation) \(place): --credentials is for nats://; a web server takes --token-file or --token-env"
            )
        }
        let token =
            server.access.tokenFile.map { TokenSource.file($0) }
            ?? server.access.tokenEnv.map { TokenSource.environment($0) }
        return WebTree(files: try HTTPFiles(at: place, token: token, trustFile: server.access.caFile))
        #else
        throw Failure.noRecorders("\(operation) \(place)")
        #endif
    }
}

#if Recorders
/// A tree on a web server. Each file is downloaded whole, into a file without a name.
private struct WebTree: TreeSource {
    let files: HTTPFiles

    var name: String { files.name }

    func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]? {
        guard let file = try file(at: path, bytesMax: UInt64(bytesMax)) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(clamping: file.byteCount))
        let count = bytes.withUnsafeMutableBytes { file.read($0, at: 0) }
        return Array(bytes[..<count])
    }

    func file(at path: [String], bytesMax: UInt64) throws -> (any TreeFile)? {
        try files.file(at: path, bytesMax: bytesMax, in: FileManager.default.temporaryDirectory.path)
    }
}
#endif
