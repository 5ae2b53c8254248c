#if !Recorders
extension IngestCommand {
    /// Refuses: this build has no live sources.
    func recordLive() async throws {
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

extension Failure {
    static func noRecorders(_ operation: String) -> Failure {
        Failure("\(operation): this program was built without recorders; build one that has them: ./scripts/install")
    }
}
#endif
