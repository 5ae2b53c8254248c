#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Facts about the terminal and the environment.
///
/// Looked up at each use, because a window may be resized.
enum Terminal {
    /// Whether a file descriptor is a terminal.
    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Whether a file descriptor is a terminal that knows escape sequences: `TERM=dumb` names one that shows them as text.
    static func knowsEscapes(_ descriptor: Int32) -> Bool {
        isTerminal(descriptor) && environment("TERM") != "dumb"
    }

    /// The number of columns of the terminal behind a descriptor; `nil` if it is no terminal.
    static func width(of descriptor: Int32) -> Int? {
        guard isTerminal(descriptor) else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The value of an environment variable; `nil` if it is not set. Empty values count as set.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
