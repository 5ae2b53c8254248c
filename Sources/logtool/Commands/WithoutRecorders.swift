#if !Recorders
import EventLog
import Projections

// The commands are parsed in every build, so that help and completions are the same. Only their runs are missing here.
// Each refuses by itself: the run of a protocol of theirs would lose against that of `AsyncParsableCommand`, which prints the help.
extension IngestCommand {
    /// Refuses: this build has no live sources.
    func recordLive(_ decoder: DecoderFile?, _ head: SequenceNumber?) async throws {
        throw Failure.noRecorders("ingest \(kind.rawValue)")
    }
}

extension RecordCommand {
    /// Refuses: this build has no live sources.
    func run() async throws {
        throw Failure.noRecorders("record")
    }
}

extension PlayCommand {
    /// Refuses: this build has no servers.
    func run() async throws {
        throw Failure.noRecorders("play")
    }
}

extension ViewCommand {
    /// Refuses: this build has no servers.
    func run() async throws {
        throw Failure.noRecorders("view")
    }
}

extension ObserveCommand {
    /// Refuses: this build has no servers.
    func run() async throws {
        throw Failure.noRecorders("observe")
    }
}

extension ProxyCommand {
    /// Refuses: this build has no servers.
    func run() async throws {
        throw Failure.noRecorders("proxy")
    }
}

extension Failure {
    /// The error for what this build lacks. Exit code 2: the command is right, the program is not.
    static func noRecorders(_ operation: String) -> Failure {
        Failure("\(operation): this program was built without recorders; build one that has them: ./scripts/install")
    }
}
#endif
