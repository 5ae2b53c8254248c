import ArgumentParser
import Clients
import Projections

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The log of a command that shows one state: its directory, or `LOG[@POINT][#PROFILE]` as in `diff`.
///
/// Unlike `StateReference` it is always a log: `-` and names that end in `.json` are paths here, too.
struct LogReference: Hashable {
    let path: String
    var point: Point?
    var profile: Profile?

    /// Reads a reference. If the whole text names something that exists, that is the log, whatever marks its name
    /// contains: a directory may be called `a@b`.
    static func parse(_ text: String) throws -> LogReference {
        guard text != "-", !text.hasSuffix(".json"), access(text, F_OK) != 0 else { return LogReference(path: text) }
        guard case .log(let path, let point, let profile) = try StateReference.parse(text) else {
            return LogReference(path: text)
        }
        // `canonical` is as good as no profile: `--profile` may then choose one.
        return LogReference(path: path, point: point, profile: profile == .canonical ? nil : profile)
    }
}
