#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files without a name: nothing of them remains, however their process ends.
package enum UnnamedFile {
    /// Makes an empty file in a folder, for reading and writing, closed to other users and to programs that are
    /// started.
    ///
    /// Linux makes it without a name. Elsewhere, and on file systems that cannot, it has a name for a moment: a process
    /// that is killed in that moment leaves an empty file.
    ///
    /// - Returns: its descriptor, which the caller closes; negative, with the reason in `errno`, if none can be made.
    package static func make(in folder: String) -> Int32 {
        #if os(Linux)
        // `O_TMPFILE`, a macro that Swift does not import.
        let made = open(folder, 0o20000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
        if made >= 0 { return made }
        #endif
        var template = Array("\(folder)/eventlog.XXXXXX".utf8CString)
        let named = mkstemp(&template)
        guard named >= 0 else { return named }
        unlink(template)
        _ = fcntl(named, F_SETFD, FD_CLOEXEC)
        return named
    }
}
