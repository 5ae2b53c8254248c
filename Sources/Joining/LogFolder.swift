import EventLog

/// Folders of logs.
public enum LogFolder {
    /// The names of the logs directly in a folder, by their bytes; none if the path names a log itself, or no folder. Names that begin
    /// with a dot do not count; links to logs do. Cost: a look at each entry.
    public static func logs(at path: String) -> [String] {
        guard !isLog(path), let names = try? Folder(at: path).names() else { return [] }
        return names.filter { !$0.hasPrefix(".") && isLog(self.path(of: $0, in: path)) }
    }

    /// The path of an entry of a folder.
    public static func path(of name: String, in folder: String) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// Whether a path names a log's directory.
    public static func isLog(_ path: String) -> Bool {
        guard let folder = try? Folder(at: path) else { return false }
        return (try? folder.kind(of: "FORMAT")) == .file
    }
}
