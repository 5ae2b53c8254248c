#if Recorders
public import EventLog

/// Something outside that pushes changes, or is asked for them, as long as it is let.
///
/// A live source owns its connections, its waiting and its retries. It appends through the `Recording` only, waits only
/// by its clock, and ends soon after its task is cancelled, having appended what it took from the remote already.
public protocol LiveSource: Sendable {
    /// The recorder's name in the log.
    var name: SourceName { get }

    /// Looks whether what it needs of this machine is there: tokens, repositories. Asks no remote.
    ///
    /// - Throws: `IngestError`.
    func check() async throws

    /// Records until it is cancelled, or until there is nothing more to record: a poll that is to be done once, a remote
    /// that said that it has ended.
    ///
    /// - Throws: `CancellationError` once cancelled; `IngestError` where going on would not help; what `append` throws.
    func run(_ recording: Recording) async throws
}

extension LiveSource {
    /// Needs nothing.
    public func check() async throws {}
}
#endif
