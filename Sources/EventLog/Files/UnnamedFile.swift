#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files that have no name, so that nothing is left of them however their process ends.
package enum UnnamedFile {
    /// Makes an empty file in a folder, for reading and writing, closed to others and to programs that are started.
    ///
    /// Linux makes it without a name. Elsewhere, and in file systems that cannot, it has one for a moment: a process that is
    /// killed in it leaves an empty file.
    ///
    /// - Returns: Its descriptor, which the caller closes; below 0, with the reason in `errno`, where none can be made.
    package static func make(in folder: String) -> Int32 {
        #if os(Linux)
        // `O_TMPFILE`, whose macro Swift does not see.
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
