import EventLog
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Searches files byte for byte, in pieces that overlap.
struct FileSearch {
    /// How often something stands in a piece, of which only what begins among the first so many bytes counts.
    let count: (_ piece: UnsafeRawBufferPointer, _ first: Int) -> Int

    /// Bytes of a file that are searched at once, and how far a text may reach beyond them.
    private static let chunkBytes = 4 << 20
    private static let overlapBytes = 1 << 20

    /// Searches all files of a log but those that hold its version and locks. Whoever closes a file of locks releases all that the
    /// process has in it.
    ///
    /// - Throws: an error of the file system.
    func all(in path: String) throws -> (files: Int, bytes: Int, hits: Int) {
        var (files, bytes, hits) = (0, 0, 0)
        let names = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
        for name in names where !["FORMAT", ".lock", "lock.mdb"].contains(where: name.hasSuffix) {
            guard let found = try file(at: path + "/" + name) else { continue }
            (files, bytes, hits) = (files + 1, bytes + found.bytes, hits + found.hits)
        }
        return (files, bytes, hits)
    }

    /// Searches a regular file. No link is followed; `nil` for one that is gone meanwhile, which was derived data of another process,
    /// and for what is no file.
    private func file(at path: String) throws -> (bytes: Int, hits: Int)? {
        guard let descriptor = try Self.opened(path) else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.trouble(path) }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        var (bytes, hits) = (0, 0)
        var piece = [UInt8](repeating: 0, count: Self.chunkBytes + Self.overlapBytes)
        for start in stride(from: 0, to: Int(status.st_size), by: Self.chunkBytes) {
            let count = pread(descriptor, &piece, piece.count, off_t(start))
            guard count >= 0 else { throw Self.trouble(path) }
            bytes += min(count, Self.chunkBytes)
            hits += piece[..<count].withUnsafeBytes { self.count($0, Self.chunkBytes) }
        }
        return (bytes, hits)
    }

    /// Searches what a Zstandard file holds; `nil` if it is gone.
    ///
    /// - Throws: `EventLogError` for a damaged one; an error of the file system.
    func compressed(at path: String) throws -> (blocks: Int, bytes: Int, hits: Int)? {
        guard let descriptor = try Self.opened(path) else { return nil }
        defer { close(descriptor) }
        let reader = try ZstandardReader(first: []) { piece in
            let count = read(descriptor, &piece, piece.count)
            guard count >= 0 else { throw Self.trouble(path) }
            return count
        }
        var (blocks, bytes, hits) = (0, 0, 0)
        var block = [UInt8](repeating: 0, count: 1 << 18)
        var piece: [UInt8] = []
        while true {
            let count = try reader.next(&block)
            (blocks, bytes) = (blocks + (count > 0 ? 1 : 0), bytes + count)
            piece += block[..<count]
            if count > 0, piece.count < Self.chunkBytes + Self.overlapBytes { continue }
            let first = count == 0 ? piece.count : Self.chunkBytes
            hits += piece.withUnsafeBytes { self.count($0, first) }
            if count == 0 { return (blocks, bytes, hits) }
            piece.removeFirst(first)
        }
    }

    /// The descriptor of a file; `nil` if there is none, or a link.
    private static func opened(_ path: String) throws -> Int32? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor >= 0 { return descriptor }
        if errno == ENOENT || errno == ELOOP { return nil }
        throw trouble(path)
    }

    private static func trouble(_ path: String) -> EngineError {
        EngineError("search \"\(path)\": \(String(cString: strerror(errno)))")
    }
}
