import ArgumentParser
import Projections

/// The help texts: examples first, then what the parser knows, then the exit codes.
///
/// The exit codes are in every help, because scripts decide by them.
enum Help {
    /// The examples of `logtool help`: one for each group of commands, and the options before a command.
    private static let rootExamples = [
        Example("logtool ingest chat.eventlog git ~/chat", "record every commit of a repository"),
        Example("logtool replay chat.eventlog", "show the channels, threads and items as they are now"),
        Example("logtool diff chat.eventlog@head~10 chat.eventlog", "show what the last ten events changed"),
        Example("logtool compact chat.eventlog --dry-run", "say what a compaction would drop"),
        Example("logtool -C ~/logs stats chat.eventlog", "run in another directory, as with git"),
        Example("logtool help replay", "show the options of one command"),
    ]

    /// The help for `help [COMMAND]`; `nil` for any other arguments.
    ///
    /// - Throws: `Failure` for a command that does not exist.
    static func requested(by arguments: [String]) throws -> String? {
        guard arguments.first == "help" else { return nil }
        guard let name = arguments.dropFirst().first, !name.hasPrefix("-") else { return text(for: LogTool.self) }
        guard let command = command(named: name) else {
            throw unknown(name)
        }
        return text(for: command)
    }

    /// The whole help of one command. As wide as the terminal; 80 columns in a file, so that a saved help does not
    /// depend on a window.
    static func text(for command: any ParsableCommand.Type) -> String {
        withExamples(LogTool.helpMessage(for: command, columns: Terminal.width(of: 1) ?? 80))
    }

    /// Puts the examples before a help text that the parser made, and the exit codes behind it.
    static func withExamples(_ text: String) -> String {
        // The parser's text names the command only in its usage line. Completion scripts and versions have none.
        guard let usage = text.split(separator: "\n").first(where: { $0.hasPrefix("USAGE: logtool") }) else {
            return text
        }
        let words = usage.split(separator: " ")
        let command = words.count > 2 ? command(named: String(words[2])) : nil
        let examples = (command as? any ExplainedCommand.Type)?.examples ?? rootExamples
        let body = text.trimmingTrailingNewlines().replacingFirst("OVERVIEW: ", with: "")
        return "EXAMPLES:\n\(rendered(examples))\n\n\(body)\n\n\(exitCodes)"
    }

    /// The command that an argument list names first, if it names one.
    static func commandName(in arguments: [String]) -> String? {
        arguments.first.flatMap { command(named: $0) == nil ? nil : $0 }
    }

    /// The names of all commands.
    static var commandNames: [String] {
        LogTool.configuration.subcommands.map { $0._commandName }
    }

    /// The first argument, if it is where a command must be and names none. The parser would take it for a value and
    /// give a less useful message.
    static func unknownCommand(in arguments: [String]) -> String? {
        arguments.first.flatMap { isCommandLike($0) && command(named: $0) == nil ? $0 : nil }
    }

    /// The failure of a command that does not exist.
    static func unknown(_ name: String) -> Failure {
        let near = Suggestion.clause(for: name, among: commandNames + ["help"])
        return Failure.usage("unknown command \"\(name)\"\(near)", command: nil)
    }

    /// The failure of a command line that the parser refuses. For an unknown option it suggests a similar one of the
    /// same command.
    ///
    /// The parser's own suggestion is cut off.
    static func usageFailure(_ message: String, arguments: [String]) -> Failure {
        let name = commandName(in: arguments)
        guard let suggestion = message.firstRange(of: ". Did you mean '") else {
            return Failure.usage(message, command: name)
        }
        let reason = message[..<suggestion.lowerBound]
        let option = reason.split(separator: "'").dropFirst().first.map(String.init) ?? ""
        let near = Suggestion.nearest(to: String(option.drop { $0 == "-" }), among: optionNames(of: name))
        return Failure.usage(reason + (near.map { "; did you mean '--\($0)'?" } ?? ""), command: name)
    }

    /// The long options of a command, without their dashes, as its help lists them.
    private static func optionNames(of name: String?) -> [String] {
        guard let command = name.flatMap({ command(named: $0) }) else { return [] }
        let words = LogTool.helpMessage(for: command, columns: 200).split { $0.isWhitespace || $0 == "," || $0 == "/" }
        return words.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
    }

    private static func isCommandLike(_ argument: String) -> Bool {
        !argument.hasPrefix("-") && argument != "help"
    }

    /// The command of a name; `nil` if there is none. Names are compared exactly.
    static func command(named name: String) -> (any ParsableCommand.Type)? {
        LogTool.configuration.subcommands.first { $0._commandName == name }
    }

    private static func rendered(_ examples: [Example]) -> String {
        examples.map { "  \($0.command)\n      \($0.meaning)" }.joined(separator: "\n")
    }

    /// The codes of `Outcome`, in words that fit a help page.
    private static let exitCodes = """
        EXIT CODES:
          0 done, yes, the same    1 no: states differ, check failed, not found
          2 usage, input or I/O    3 the log is damaged    4 refused without --yes
          10 no log there          11 locked by another    130, 143 interrupted
        """
}

extension String {
    fileprivate func trimmingTrailingNewlines() -> Substring {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension Substring {
    fileprivate func replacingFirst(_ prefix: String, with replacement: String) -> String {
        hasPrefix(prefix) ? replacement + dropFirst(prefix.count) : String(self)
    }
}
