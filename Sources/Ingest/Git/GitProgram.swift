import Foundation

/// The `git` program and one repository: runs commands in it with nothing of the user's configuration.
struct GitProgram: Sendable {
    private let executable: URL
    private let environment: [String: String]
    /// The repository's directory as the caller named it.
    let repository: String

    /// Finds `git` on the search path of an environment.
    ///
    /// - Throws: `IngestError` with code `gitMissing`.
    init(repository: String, environment: [String: String]) throws {
        guard let executable = Self.find("git", in: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin") else {
            throw IngestError(
                .gitMissing,
                operation: "ingest git",
                object: repository,
                reason: "the program git is not on the search path",
                advice: "install git (apt install git, or the Xcode command line tools)"
            )
        }
        self.executable = executable
        self.repository = repository
        self.environment = Self.isolated(environment, repository: repository)
    }

    /// Starts a command. With `takesInput` its standard input is a pipe, else it is empty.
    func start(_ arguments: [String], takesInput: Bool = false) throws -> GitProcess {
        try GitProcess(
            executable: executable,
            arguments: ["-C", repository, "-c", "safe.directory=*", "--no-pager"] + arguments,
            environment: environment,
            takesInput: takesInput,
            subject: repository
        )
    }

    /// Runs a command to its end and gives what it printed, without the last line's end; `nil` if it exits with
    /// another status than 0.
    func answer(_ arguments: [String]) throws -> String? {
        let process = try start(arguments)
        let output = try process.output.readToEnd(limit: 1 << 20)
        guard process.finish().status == 0 else { return nil }
        let text = String(decoding: output, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private static func find(_ name: String, in searchPath: String) -> URL? {
        searchPath.split(separator: ":").lazy
            .map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Nothing that a user's or a machine's configuration says may change what is recorded, and nothing that a
    /// repository's own configuration says may start a program or reach a network: it may be somebody else's. That is
    /// also why git's check of the owner (`safe.directory`) can be passed over: only objects are read.
    private static func isolated(_ environment: [String: String], repository: String) -> [String: String] {
        var isolated = environment.filter { !$0.key.hasPrefix("GIT_") }
        let settings = [
            "LC_ALL": "C",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_PAGER": "cat",
            // A directory below a repository is none itself: a mistyped path must not record what surrounds it.
            "GIT_CEILING_DIRECTORIES": URL(fileURLWithPath: repository).resolvingSymlinksInPath()
                .deletingLastPathComponent().path,
        ]
        isolated.merge(settings) { $1 }
        return isolated
    }
}
