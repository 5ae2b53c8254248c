#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds the processes that hold a lock on a file, from Linux's `/proc/locks`.
enum LockHolders {
    /// The processes that hold a `flock` on an open file, as far as they are visible here; `nil` if the system does not
    /// tell.
    ///
    /// Files are matched by inode alone: on some file systems the device in `/proc/locks` is not the one that `fstat`
    /// returns.
    static func processes(of descriptor: Int32) -> [Int32]? {
        var information = stat()
        guard fstat(descriptor, &information) == 0, let text = content("/proc/locks") else { return nil }
        return processes(in: text, file: UInt64(information.st_ino))
    }

    /// Lines are `1: FLOCK  ADVISORY  WRITE 4711 fe:01:393217 0 EOF`; one that waits has `->` after the number and is
    /// left out.
    static func processes(in text: String, file: UInt64) -> [Int32] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0,
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == file
            else { return nil }
            return process
        }
    }

    /// The whole text of a file of `/proc`, which is read in pieces; `nil` on an error or from 16 MiB on.
    private static func content(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < 16 << 20 {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
            bytes += piece.prefix(count)
        }
        return nil
    }
}
