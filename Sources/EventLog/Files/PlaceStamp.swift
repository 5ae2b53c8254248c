#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tells a directory that was made here from every copy of it (`docs/decisions/0020`).
///
/// An empty file that is made with the directory and never touched again. Where it lies (device, inode), when the kernel
/// made it (ctime, which no program can set) and on which machine are hashed; whoever packs, copies or restores the
/// directory makes another file and so another hash. The hash of the place is written where only the program itself
/// writes, and compared before anything in the directory is believed.
enum PlaceStamp {
    static let fileName = "place"

    /// Makes the file; the directory must not have one.
    static func make(in folder: Folder) throws -> Hash256 {
        _ = try folder.makeFile(fileName)
        guard let hash = try hash(of: folder) else { throw EventLogError.system("read", folder.path(of: fileName)) }
        return hash
    }

    /// The hash of the place; `nil` where there is no such file, or something else in its stead.
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

    private static func changeTime(of file: stat) -> (Int64, Int64) {
        #if canImport(Darwin)
        (Int64(file.st_ctimespec.tv_sec), Int64(file.st_ctimespec.tv_nsec))
        #else
        (Int64(file.st_ctim.tv_sec), Int64(file.st_ctim.tv_nsec))
        #endif
    }

    /// What the system calls this machine: a disk that comes from elsewhere was not written with it. Empty where unknown.
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
