import EventLog
import Joining
import Projections
import Shipping

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The logs and trees of one folder, or the trees that the catalogue of a web server names.
struct Catalog {
    /// What is known of one of them.
    struct Entry {
        enum What: String {
            case log, tree
        }

        /// The events of a log, or of a tree.
        struct Contents {
            let origin: String?
            let identity: [UInt8]
            let sources: [String]
            let head: UInt64
            let root: Hash256
            /// The greatest time of receipt; `nil` for a tree, whose checkpoint does not tell it, and for a log without changes.
            let clock: Timestamp?
        }

        let name: String
        let what: What
        /// When it was last written to; `nil` if nothing tells.
        let seen: Timestamp?
        let contents: Result<Contents, any Error>
        /// What a catalogue's file says of it; `nil` unless it is a tree that could be read.
        fileprivate(set) var listed: TreeCatalog.Entry?

        /// The seconds since the clock, or, of a tree, since its checkpoint was written.
        func lagSeconds(_ now: Timestamp) -> Int? {
            let time = what == .tree ? seen : (try? contents.get().clock)
            return time.map { Int(clamping: (now.microseconds - $0.microseconds) / 1_000_000) }
        }
    }

    /// By name: logs, then trees.
    let entries: [Entry]

    /// Reads a folder of this machine. What cannot be read is an entry with its error.
    ///
    /// Cost: opens each log, and reads each tree's manifest.
    ///
    /// - Throws: `EventLogError` if there is no such folder.
    init(ofFolderAt path: String, verifiers: [VerifierKey]) throws {
        let base = try FolderTree(at: path)
        let logs = LogFolder.logs(at: path).map { Self.log($0, in: path) }
        let trees = try TreeCatalog.names(inFolderAt: path).map { name in
            let seen = Self.modified(LogFolder.path(of: name, in: path) + "/checkpoint")
            return Self.tree(name, seen: seen, of: base, verifiers)
        }
        entries = logs + trees
    }

    /// Reads the catalogue of a web server, and each tree that it names.
    ///
    /// - Throws: as `TreeCatalog.entries`.
    init(of base: any TreeSource, verifiers: [VerifierKey]) throws {
        entries = try TreeCatalog.entries(of: base).map { Self.tree($0.name, seen: $0.seen, of: base, verifiers) }
    }

    private static func log(_ name: String, in path: String) -> Entry {
        let log = LogFolder.path(of: name, in: path)
        let contents = Result {
            try EventStore.open(at: log, options: .withProgress(isQuiet: true)).read { session in
                Entry.Contents(
                    origin: nil,
                    identity: try session.identity(),
                    sources: try session.kindsBySource().keys.filter { $0 != .logtool }.map(\.rawValue).sorted(),
                    head: session.head.rawValue,
                    root: try session.root(size: session.head.rawValue),
                    clock: try session.clock(at: session.head)
                )
            }
        }
        return Entry(name: name, what: .log, seen: lastWritten(logAt: log), contents: contents)
    }

    private static func tree(
        _ name: String,
        seen: Timestamp?,
        of base: any TreeSource,
        _ verifiers: [VerifierKey]
    ) -> Entry {
        let summary = Result {
            guard TreeCatalog.isName(name) else {
                throw Failure(
                    "read tree \"\(name)\": a catalogue lists names of letters, digits, \".\", \"_\" and \"-\"; rename the folder"
                )
            }
            return try TreeSummary(of: NeighbourTree(name, of: base), verifiers: verifiers)
        }
        let contents = summary.map { summary in
            Entry.Contents(
                origin: summary.checkpoint.checkpoint.origin,
                identity: summary.identity,
                sources: summary.sources,
                head: summary.checkpoint.checkpoint.size,
                root: summary.checkpoint.checkpoint.root,
                clock: nil
            )
        }
        var entry = Entry(name: name, what: .tree, seen: seen, contents: contents)
        entry.listed = (try? summary.get()).map { TreeCatalog.Entry(name: name, summary: $0, seen: seen) }
        return entry
    }

    // MARK: - Times

    /// When the newest data file of a log was last written to.
    private static func lastWritten(logAt path: String) -> Timestamp? {
        let generations = (try? Folder(at: path).names())?.filter { $0.hasPrefix("gen-") } ?? []
        return generations.compactMap { modified("\(path)/\($0)/data.mdb") }.max()
    }

    private static func modified(_ path: String) -> Timestamp? {
        var information = stat()
        guard lstat(path, &information) == 0 else { return nil }
        #if canImport(Darwin)
        let time = information.st_mtimespec
        #else
        let time = information.st_mtim
        #endif
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec / 1000 * 1000))
    }
}
