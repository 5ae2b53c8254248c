import ArgumentParser

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The root of all commands: `logtool COMMAND LOG …`.
///
/// It does nothing itself. `Launch` parses the named command alone where it can; this tree serves help, completions and
/// messages.
struct LogTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logtool",
        abstract: "Keeps every remote change of chats, items and statuses in a log, and replays them.",
        usage: "logtool [-C DIR] [--no-pager] COMMAND …",
        version: ProgramIdentity.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Record",
                subcommands: [
                    IngestCommand.self, RecordCommand.self, ProxyCommand.self, ObserveCommand.self, StatusCommand.self,
                    ImportCommand.self, ExportCommand.self,
                ]
            ),
            CommandGroup(
                name: "Look",
                subcommands: [
                    EventsCommand.self, ReplayCommand.self, ViewCommand.self, SQLCommand.self, StatsCommand.self,
                    GapsCommand.self,
                    DecoderCommand.self, MCPCommand.self,
                ]
            ),
            CommandGroup(
                name: "Compare and find",
                subcommands: [
                    DiffCommand.self, HistoryCommand.self, AuditCommand.self, BisectCommand.self, ShrinkCommand.self,
                    AnonymizeCommand.self, ReportCommand.self,
                    FreezeCommand.self, CheckCommand.self, PlayCommand.self, ProfilesCommand.self,
                ]
            ),
            CommandGroup(
                name: "Keep",
                subcommands: [
                    CompactCommand.self, SealCommand.self, PolicyCommand.self, RedactCommand.self, ForgetCommand.self,
                    VerifyCommand.self,
                    SalvageCommand.self,
                    RootCommand.self, ProveCommand.self,
                    BackupCommand.self, ShipCommand.self, PullCommand.self, CatalogCommand.self, RebuildCommand.self,
                ]
            ),
        ]
    )
}

/// Where the program begins.
@main
enum EntryPoint {
    /// Signal handlers come early: an interrupt during the parsing of arguments ends the process as any other does.
    /// `exit` runs no deinitializers, so commands must have flushed (`StandardOutput`).
    ///
    /// On the main actor, so that no other thread has allocated when the heap is prepared.
    @MainActor
    static func main() async {
        ProcessHeap.prepare()
        Interrupts.install()
        let code = await Launch.run(Array(CommandLine.arguments.dropFirst()))
        ScratchFolders.removeAll()
        // The shell must not get the terminal back while the pager still has it.
        Pager.waitUntilItEnds()
        exit(code)
    }
}
