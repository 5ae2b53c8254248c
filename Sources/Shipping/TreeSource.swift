public import EventLog

/// Where the files of a tree are read: a folder, or a web server.
public protocol TreeSource {
    /// What it is called in messages.
    var name: String { get }

    /// The bytes of a file; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - path: the names of its folders and its own, none of them empty, `.` or `..`, or with a slash.
    ///   - bytesMax: the most bytes that it may have.
    /// - Throws: `EventLogError` if the file has more, or cannot be read.
    func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]?

    /// A file to be read in pieces; `nil` if there is none.
    ///
    /// - Throws: `EventLogError` if the file has more bytes than that, or cannot be read.
    func file(at path: [String], bytesMax: UInt64) throws -> (any TreeFile)?
}

/// A file of a tree, open for reading.
public protocol TreeFile {
    /// Its size.
    var byteCount: UInt64 { get }

    /// Reads from an offset until the buffer is full, the file ends or a read fails; returns the number of bytes read.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int
}

extension OpenFile: TreeFile {}

/// A tree in a folder of this machine, which may come from anywhere. Links are not followed.
public struct FolderTree: TreeSource {
    private let root: Folder

    /// Opens a folder.
    ///
    /// - Throws: `EventLogError` with code `io` if there is none.
    public init(at path: String) throws {
        root = try Folder(at: path)
    }

    init(_ folder: Folder) {
        root = folder
    }

    /// The folder's path.
    public var name: String { root.path }

    /// The bytes of a file; `nil` if there is none.
    public func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]? {
        guard let file = try file(at: path, bytesMax: UInt64(bytesMax)) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(file.byteCount))
        let count = bytes.withUnsafeMutableBytes { file.read($0, at: 0) }
        return Array(bytes[..<count])
    }

    /// A file; `nil` if there is none.
    public func file(at path: [String], bytesMax: UInt64) throws -> (any TreeFile)? {
        var folder = root
        for name in path.dropLast() {
            guard let next = try folder.folder(name) else { return nil }
            folder = next
        }
        guard let name = path.last, let file = try folder.file(name) else { return nil }
        guard file.byteCount <= bytesMax else { throw TreeFault.tooLong(folder.path(of: name), bytesMax) }
        return file
    }
}

/// The errors of a tree that comes from elsewhere.
public enum TreeFault {
    /// The error of a file that is longer than it may be.
    public static func tooLong(_ file: String, _ bytesMax: UInt64) -> EventLogError {
        error(file, "it has more than \(bytesMax) bytes")
    }

    /// The error of a file that says what the rest of the tree does not.
    static func error(_ file: String, _ reason: String) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "read tree",
            object: file,
            reason: reason,
            advice: "nothing of it was believed"
        )
    }

    /// The error of a tree whose copying is not over.
    static func notWhole(_ tree: String, _ file: [String]) -> EventLogError {
        EventLogError(
            .notFound,
            operation: "read tree",
            object: tree,
            reason: "\(file.joined(separator: "/")) is not there",
            advice: "a copy that is still under way lacks files: try again when it is done, or say --wait"
        )
    }
}
