#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The `git` program and one repository, which git sees through a `ClosedGitDirectory` (I28).
struct GitProgram: Sendable {
    /// An absolute path; links are not resolved.
    private let executable: String
    /// The environment that `closed` made; never the caller's.
    private let environment: [String: String]
    private let children: GitChildren
    /// The git directory that git uses.
    let directory: ClosedGitDirectory
    /// The repository's directory as the caller named it.
    let repository: String

    /// Finds `git` on the search path of an environment, and makes the empty closed directory.
    /// `ClosedGitDirectory.show` must link the repository into it before a command can read any object.
    ///
    /// - Throws: `IngestError` with code `gitMissing`, or `io` if the directory cannot be made.
    init(repository: String, environment: [String: String], children: GitChildren) throws(IngestError) {
        executable = try Self.executable(in: environment, operation: "ingest git", object: repository)
        self.repository = repository
        self.children = children
        directory = try ClosedGitDirectory(for: repository)
        self.environment = Self.closed(environment, executable: executable, directory: directory.path)
    }

    /// Starts a command. Its standard input is a pipe if `takesInput`, else empty.
    ///
    /// Its working directory is the closed one, so a relative path in an argument cannot reach the work tree.
    func start(_ arguments: [String], takesInput: Bool = false) throws(IngestError) -> GitProcess {
        let command = SpawnedProgram(
            executable: executable,
            arguments: ["-C", directory.path, "--no-pager", "--no-replace-objects", "--literal-pathspecs"] + arguments,
            environment: environment
        )
        return try GitProcess(
            command,
            name: "git \(arguments.first ?? "")",
            takesInput: takesInput,
            among: children,
            subject: repository
        )
    }

    /// Runs a command to its end and returns at most 1 MiB of its output, without the last line feed; `nil` if its
    /// status is not 0. Blocks. Bytes that are not UTF-8 become U+FFFD.
    func answer(_ arguments: [String]) throws(IngestError) -> String? {
        let process = try start(arguments)
        let output = try process.output.readToEnd(limit: 1 << 20)
        guard process.finish().status == 0 else { return nil }
        let text = String(decoding: output, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    /// Finds `git` on the search path of an environment.
    ///
    /// - Throws: `IngestError` with code `gitMissing`.
    static func executable(in environment: [String: String], operation: String, object: String) throws(IngestError)
        -> String
    {
        if let path = find("git", in: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin") { return path }
        throw IngestError(
            .gitMissing,
            operation: operation,
            object: object,
            reason: "the program git is not on the search path",
            advice: "install git (apt install git, or the Xcode command line tools)"
        )
    }

    /// The first plain executable file with the name. Skips relative folders of the search path: one of them may lie in
    /// the repository, which could then bring its own `git`.
    private static func find(_ name: String, in searchPath: String) -> String? {
        searchPath.split(separator: ":").lazy
            .filter { $0.hasPrefix("/") }
            .map { "\($0)/\(name)" }
            .first { GitFile.resolved($0).map(GitFile.kind) == .file && access($0, X_OK) == 0 }
    }

    /// The whole environment of git. The caller's environment contributes only the variables by which programs find
    /// their libraries, and `TMPDIR`.
    ///
    /// The settings repeat those of `ClosedGitDirectory`'s configuration, and cover what a configuration cannot:
    /// `/dev/null` and `1` switch off the files of the system and of the user, `GIT_NO_LAZY_FETCH` and
    /// `GIT_ALLOW_PROTOCOL` keep a partial clone from fetching, and `GIT_GRAFT_FILE` and `GIT_NO_REPLACE_OBJECTS` keep
    /// parents as the commits name them. See `docs/decisions/0019-git-children-live-in-a-closed-world.md`.
    static func closed(_ environment: [String: String], executable: String, directory: String) -> [String:
        String]
    {
        let loader = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "DEVELOPER_DIR", "TMPDIR"]
        var closed = environment.filter { loader.contains($0.key) }
        let settings = [
            "PATH": "\(URL(fileURLWithPath: executable).deletingLastPathComponent().path):/usr/bin:/bin",
            "HOME": directory,
            "XDG_CONFIG_HOME": directory,
            "LC_ALL": "C",
            "GIT_DIR": directory,
            "GIT_INDEX_FILE": "\(directory)/index",
            "GIT_GRAFT_FILE": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
        ]
        closed.merge(settings) { $1 }
        return closed
    }
}
