#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tells a directory that was made here from every copy of it (I17, `docs/decisions/0020`).
///
/// It is an empty file, made with the directory and never touched again. Its place (device and inode), the time when
/// the kernel made it (ctime, which no program can set) and the machine's id are hashed. A directory that was packed,
/// copied or restored has another file, and so another hash. The hash is stored where only this program writes, and is
/// compared before anything in the directory is trusted.
enum FolderStamp {
    static let fileName = "place"

    /// Makes the file and returns the hash of its place; the directory must not have one yet.
    static func make(in folder: Folder) throws -> Hash256 {
        _ = try folder.makeFile(fileName)
        guard let hash = try hash(of: folder) else { throw EventLogError.system("read", folder.path(of: fileName)) }
        return hash
    }

    /// The hash of the place; `nil` if the file is missing, or is not an empty regular file with one name.
    static func hash(of folder: Folder) throws -> Hash256? {
        guard let file = try folder.status(of: fileName) else { return nil }
        guard file.st_mode & S_IFMT == S_IFREG, file.st_nlink == 1, file.st_size == 0 else { return nil }
        var writer = ByteWriter()
        writer.write(text: "eventlog place")
        writer.write(UInt16(clamping: machine.count))
        writer.write(machine)
        writer.write(UInt64(truncatingIfNeeded: file.st_dev))
        writer.write(UInt64(truncatingIfNeeded: file.st_ino))
        let (seconds, nanoseconds) = changeTime(of: file)
        writer.write(seconds)
        writer.write(nanoseconds)
        return Hasher256.hash(writer.bytes)
    }

    /// Seconds and nanoseconds of the last change of the inode.
    private static func changeTime(of file: stat) -> (Int64, Int64) {
        #if canImport(Darwin)
        (Int64(file.st_ctimespec.tv_sec), Int64(file.st_ctimespec.tv_nsec))
        #else
        (Int64(file.st_ctim.tv_sec), Int64(file.st_ctim.tv_nsec))
        #endif
    }

    /// The system's id of this machine, so that a disk from another machine does not match. Empty if unknown.
    private static let machine: [UInt8] = {
        #if canImport(Darwin)
        var id = [UInt8](repeating: 0, count: 16)
        var wait = timespec(tv_sec: 1, tv_nsec: 0)
        return gethostuuid(&id, &wait) == 0 ? id : []
        #else
        let descriptor = open("/etc/machine-id", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return Array(bytes.prefix(max(0, count)))
        #endif
    }()
}
