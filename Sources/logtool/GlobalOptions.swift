#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Options before the command, as with git: `logtool -C DIR --no-pager COMMAND …`.
///
/// They are not options of the root command: the parser would accept them behind a command, too, where `-C` comes too
/// late.
enum GlobalOptions {
    /// Removes these options from the front of an argument list and applies them. Stops at the first word that is none
    /// of them.
    ///
    /// Each `-C` is relative to the directory of the one before. The whole process changes its directory.
    ///
    /// - Throws: `Failure` if a directory is missing or cannot be entered.
    static func take(from arguments: inout [String]) throws {
        while let first = arguments.first {
            if first == "--no-pager" {
                Pager.isAllowed = false
                arguments.removeFirst()
            } else if first == "-C" {
                guard arguments.count > 1 else { throw Failure.usage("-C needs a directory", command: nil) }
                try change(to: arguments[1])
                arguments.removeFirst(2)
            } else if first.hasPrefix("-C") {
                // The attached form, `-CDIR`.
                try change(to: String(first.dropFirst(2)))
                arguments.removeFirst()
            } else {
                return
            }
        }
    }

    /// Changes the directory of the process. Paths of later options and arguments are relative to it.
    private static func change(to directory: String) throws {
        // As with git, an empty directory changes nothing.
        guard !directory.isEmpty, chdir(directory) != 0 else { return }
        throw Failure("change to directory \"\(directory)\": \(String(cString: strerror(errno)))")
    }
}
