import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes a command's output to a path. A file appears there when it is complete; devices, FIFOs, terminals and names
/// such as `/dev/stdout` are written to directly.
///
/// It must be ended by `finish`. Without that, an incomplete file is removed with this object. For one thread.
final class OutputFile {
    private let path: String
    private let target: Target
    private var buffer: [UInt8] = []
    private static let bufferBytesMax = 1 << 18

    /// Begins to write. The path is examined now, so a refusal comes before any work.
    ///
    /// - Parameter overwrites: whether what is there may be overwritten; `nil` of a command that never does.
    /// - Throws: `Failure` with exit code 4 if something exists there that may not be overwritten, with 2 if it cannot
    ///   be written.
    init(_ path: String, overwrites: Bool?) throws {
        self.path = path
        target = try Self.target(path, overwrites: overwrites)
    }

    deinit {
        switch target {
        case .stream(let descriptor): close(descriptor)
        // After `finish` nothing has this name any more.
        case .draft(_, let folder, let draft, _): try? folder.removeFile(draft)
        }
    }

    /// Adds bytes as they are.
    func add(_ bytes: [UInt8]) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferBytesMax { try flush() }
    }

    /// Writes the rest, syncs the file and moves it to its path.
    ///
    /// - Throws: `BrokenPipe` if a reader is gone, `Failure` for other trouble.
    func finish() throws {
        try flush()
        // Pipes and terminals cannot be synced.
        guard fsync(target.descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw Self.trouble(path) }
        guard case .draft(_, let folder, let draft, let name) = target else { return }
        try folder.move(draft, to: name)
    }

    /// Writes the buffer. After an error its bytes are dropped, because the caller gives up.
    private func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let written = write(target.descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if written >= 0 {
                    done += written
                } else if errno == EPIPE {
                    throw BrokenPipe()
                } else if errno != EINTR {
                    throw Self.trouble(path)
                }
            }
        }
    }

    /// An error with the reason in `errno`; to be called before anything else changes that.
    private static func trouble(_ path: String) -> Failure {
        Failure("write \"\(path)\": \(DiskRoom.text(errno))")
    }
}

// MARK: - What is written to

extension OutputFile {
    private enum Target {
        /// A stream that is written to directly.
        case stream(Int32)
        /// A file that is written under another name first.
        case draft(OpenFile, folder: Folder, draft: String, name: String)

        var descriptor: Int32 {
            switch self {
            case .stream(let descriptor): descriptor
            case .draft(let file, _, _, _): file.descriptor
            }
        }
    }

    /// The target that a path names.
    private static func target(_ path: String, overwrites: Bool?) throws -> Target {
        if let standard = openDescriptor(named: path) {
            // A copy, because `deinit` closes it.
            let copy = dup(standard)
            guard copy >= 0 else { throw trouble(path) }
            return .stream(copy)
        }
        var information = stat()
        // Nothing exists there, or a link leads to nothing, which `draft` refuses.
        guard stat(path, &information) == 0 else { return try draft(path) }
        let wayOut = overwrites == nil ? "name another file" : "overwrite it with --yes"
        switch information.st_mode & S_IFMT {
        case S_IFREG:
            guard overwrites == true else { throw refusal(path, "it is there already; \(wayOut)") }
            return try draft(path)
        case S_IFBLK where overwrites != true: throw refusal(path, "it is a disk; \(wayOut)")
        case S_IFDIR: throw Failure("write \"\(path)\": it is a directory; name a file")
        default: return try stream(path)
        }
    }

    /// The descriptor that a name below `/dev` or `/proc` stands for. Opening the name instead would write from the
    /// start of a file that is being appended to.
    private static func openDescriptor(named path: String) -> Int32? {
        switch path {
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            let start = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
            return start.flatMap { Int32(path.dropFirst($0.count)) }
        }
    }

    private static func stream(_ path: String) throws -> Target {
        let descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw trouble(path) }
        return .stream(descriptor)
    }

    /// Begins a file beside the path. If the path is a link, the link stays and its target is replaced.
    private static func draft(_ path: String) throws -> Target {
        let place = Directory.split(try Directory.resolved(path) ?? unlinked(path))
        let folder: Folder
        do {
            folder = try Folder(at: place.parent)
        } catch let error as EventLogError {
            throw Failure("write \"\(path)\": \(error.reason)")
        }
        let draft = Partial.name(for: place.name)
        let file = try Partial.makeFile(for: place.name, in: folder)
        return .draft(file, folder: folder, draft: draft, name: place.name)
    }

    /// The path itself if nothing has its name. A link to nothing is refused: what it was meant to name is unknown.
    private static func unlinked(_ path: String) throws -> String {
        var information = stat()
        guard lstat(path, &information) != 0 else {
            throw Failure("write \"\(path)\": it is a link to nothing; remove it")
        }
        return path
    }

    private static func refusal(_ path: String, _ reason: String) -> Failure {
        Failure("write \"\(path)\": \(reason)", exitCode: Outcome.refused)
    }
}
