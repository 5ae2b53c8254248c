import Foundation
import TestSupport

#if canImport(Glibc)
import Glibc
#endif

/// Something that somebody put into a log's folder, with `outside/` beside the log for it to lead to.
enum PlantedEntry: String, CaseIterable {
    case linkToFile, linkToFolder, danglingLink, fifo, folder, socket, hugeFile, hardLink

    /// Puts it in the place of what has the name in the log `L`.
    func put(_ name: String, in folder: TemporaryDirectory) throws {
        let path = folder.path("L/" + name)
        let manager = FileManager.default
        if (try? manager.attributesOfItem(atPath: path)) != nil { try manager.removeItem(atPath: path) }
        let parent = URL(filePath: path).deletingLastPathComponent()
        try manager.createDirectory(at: parent, withIntermediateDirectories: true)
        switch self {
        case .linkToFile: try manager.createSymbolicLink(atPath: path, withDestinationPath: folder.path("outside/file"))
        case .linkToFolder:
            try manager.createSymbolicLink(atPath: path, withDestinationPath: folder.path("outside/folder"))
        case .danglingLink:
            try manager.createSymbolicLink(atPath: path, withDestinationPath: folder.path("outside/none"))
        case .fifo: try Self.expectZero(mkfifo(path, 0o600))
        case .folder: try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .socket: try Self.makeSocket(name, parent.path)
        case .hugeFile:
            try Data().write(to: URL(filePath: path))
            try Self.expectZero(truncate(path, 1 << 40))
        case .hardLink: try manager.linkItem(atPath: folder.path("outside/file"), toPath: path)
        }
    }

    /// Whether it may stand where a log has a folder, or a file, of its own.
    func isHarmless(as name: String) -> Bool {
        switch self {
        case .folder: Self.isFolder(name)
        case .hugeFile: Self.isCache(name) || (!Self.isFolder(name) && !name.hasSuffix("lock.mdb"))
        // FORMAT is read and replaced, never written to; a cache whose place has another name is not believed.
        case .hardLink: Self.isCache(name) || name == "FORMAT" || name.hasSuffix("/place")
        default: false
        }
    }

    /// A file there only means that nothing is derived.
    private static func isCache(_ name: String) -> Bool { name.hasPrefix("cache-") && isFolder(name) }

    private static func isFolder(_ name: String) -> Bool {
        !name.contains(".") && name != "FORMAT" && !name.hasSuffix("/checked") && !name.hasSuffix("/place")
    }

    private static func expectZero(_ result: Int32) throws {
        guard result == 0 else { throw CocoaError(.fileWriteUnknown, userInfo: ["errno": errno]) }
    }

    /// Bound under a short path on the same file system, which a socket's address needs, and moved.
    private static func makeSocket(_ name: String, _ parent: String) throws {
        #if canImport(Darwin)
        let descriptor = Darwin.socket(AF_UNIX, SOCK_STREAM, 0)
        #else
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        defer { close(descriptor) }
        let short = FileManager.default.temporaryDirectory.path + "/planted-\(UUID().uuidString.prefix(8))"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try expectZero(result)
        try expectZero(rename(short, parent + "/" + (name.split(separator: "/").last.map(String.init) ?? name)))
    }
}
