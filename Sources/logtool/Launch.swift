import ArgumentParser

/// Parses a command line, runs its command and turns the outcome into an exit code. It never exits: `EntryPoint` does,
/// after the pager has ended.
enum Launch {
    /// True if an error came from reading the command line: the parser's own errors and those of `validate()`.
    private static func isUsage(_ error: any Error) -> Bool {
        LogTool.exitCode(for: error) == .validationFailure
    }

    /// Runs one command line (without the program's name) and returns the process's exit code.
    ///
    /// What a command throws becomes one line on standard error and a code. A closed pipe is no failure, and a command
    /// that has said all throws a bare `ExitCode`; both print nothing.
    static func run(_ arguments: [String]) async -> Int32 {
        var arguments = arguments
        do {
            try GlobalOptions.take(from: &arguments)
            guard !arguments.isEmpty else {
                StandardError.line(Help.text(for: LogTool.self))
                throw Outcome.trouble
            }
            if let name = Help.unknownCommand(in: arguments) {
                throw Help.unknown(name)
            }
            if let help = try Help.requested(by: arguments) {
                return try show(help)
            }
            var command = try parse(arguments)
            // Commands that wait are asynchronous; the others block their thread for the whole run.
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return ExitCode.success.rawValue
        } catch {
            return finish(error, arguments: arguments)
        }
    }

    /// Parses a command line. A command that is named first is parsed alone, in half the time. Only if that fails, or
    /// gives help, is the whole tree of commands parsed, which makes the messages.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        if let named = arguments.first.flatMap({ Help.command(named: $0) }),
            let command = try? named.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == named
        {
            return command
        }
        return try LogTool.parseAsRoot(arguments)
    }

    /// Prints a text of help. It needs no colour, so it is the same on a terminal and in a file.
    private static func show(_ text: String) throws -> Int32 {
        let output = StandardOutput(style: .plain)
        try output.line(text)
        try output.flush()
        return ExitCode.success.rawValue
    }

    /// Reports an error and returns its exit code. Help, version and completion scripts arrive as errors, too; they go
    /// to standard output.
    private static func finish(_ error: any Error, arguments: [String]) -> Int32 {
        if Failure.isOwn(error) { return Failure.report(error) }
        if let code = error as? ExitCode { return code.rawValue }
        guard LogTool.exitCode(for: error) != .success else {
            let text = Help.withExamples(LogTool.fullMessage(for: error))
            return (try? show(text)) ?? ExitCode.success.rawValue
        }
        guard isUsage(error) else { return Failure.report(error) }
        return Failure.report(Help.usageFailure(LogTool.message(for: error), arguments: arguments))
    }
}
