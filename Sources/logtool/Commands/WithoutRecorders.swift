#if !Recorders
import ArgumentParser
import EventLog
import Projections

// The commands are parsed in every build, so that help and completions are the same. Only their runs are missing here.

/// A command that needs servers or live sources.
private protocol RecorderCommand: AsyncParsableCommand {}

extension RecorderCommand {
    /// Refuses: this build has none.
    func run() async throws {
        throw Failure.noRecorders(Self.configuration.commandName ?? "")
    }
}

extension RecordCommand: RecorderCommand {}
extension ProxyCommand: RecorderCommand {}
extension ObserveCommand: RecorderCommand {}
extension PlayCommand: RecorderCommand {}
extension ViewCommand: RecorderCommand {}

extension IngestCommand {
    /// Refuses: this build has no live sources.
    func recordLive(_ decoder: DecoderFile?, _ head: SequenceNumber?) async throws {
        throw Failure.noRecorders("ingest \(kind.rawValue)")
    }
}

extension Failure {
    /// The error for what this build lacks. Exit code 2: the command is right, the program is not.
    static func noRecorders(_ operation: String) -> Failure {
        Failure("\(operation): this program was built without recorders; build one that has them: ./scripts/install")
    }
}
#endif
