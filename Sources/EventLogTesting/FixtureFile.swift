import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the files of a fixture, which may come from somebody else: only regular files of a bounded size, through no
/// link, and without waiting at a FIFO.
enum FixtureFile {
    /// The most bytes of one file. A fixture holds what shows one bug; a whole log is checked with `replay`.
    static let bytesMax = 256 << 20
    private static let pieceBytes = 1 << 20

    /// The bytes of a file.
    ///
    /// - Throws: `FixtureError` if it cannot be read, or is too large; `EventLogError` if it is no regular file.
    static func bytes(of file: URL) throws -> [UInt8] {
        let opened = try open(file)
        try check(opened, file)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: pieceBytes)
        while true {
            let count = piece.withUnsafeMutableBytes { opened.read($0, at: UInt64(bytes.count)) }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            // It may have grown since.
            guard bytes.count <= bytesMax else { throw tooLarge(file) }
        }
    }

    /// Checks a file that something else reads.
    ///
    /// - Throws: as `bytes(of:)`.
    static func check(_ file: URL) throws { try check(open(file), file) }

    private static func check(_ opened: OpenFile, _ file: URL) throws {
        var byte: UInt8 = 0
        let isLarger = withUnsafeMutableBytes(of: &byte) { opened.read($0, at: UInt64(bytesMax)) > 0 }
        if isLarger { throw tooLarge(file) }
    }

    private static func open(_ file: URL) throws -> OpenFile {
        let folder = try Folder(at: file.deletingLastPathComponent().path)
        guard let opened = try folder.file(file.lastPathComponent) else {
            throw FixtureError(file, "it cannot be read")
        }
        return opened
    }

    private static func tooLarge(_ file: URL) -> FixtureError {
        FixtureError(file, "it has more than \(bytesMax >> 20) MiB; keep the events that matter (logtool shrink)")
    }
}
