import Foundation

/// The write lock of a log, held as another process holds it: appends wait, as for a disk that is stuck.
public final class HeldLock: Sendable {
    private let descriptor: Int32

    /// Takes it from the log at a path.
    public init(_ path: String) throws {
        descriptor = open("\(path)/write.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else { throw CocoaError(.fileReadUnknown) }
    }

    deinit {
        close(descriptor)
    }

    /// Gives it back.
    public func release() {
        _ = flock(descriptor, LOCK_UN)
    }
}
