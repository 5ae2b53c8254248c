#if Recorders
public import EventLog

/// An outside source that pushes changes, or is polled for them, until it is cancelled.
///
/// A live source owns its connections, its waits and its retries. It appends only through the `Recording` and waits
/// only by its clock. Once its task is cancelled it appends what it already took from the remote, and ends soon.
public protocol LiveSource: Sendable {
    /// The recorder's name in the log.
    var name: SourceName { get }

    /// Checks that this machine has what the source needs, such as tokens and repositories. Contacts no remote.
    ///
    /// - Throws: `IngestError`.
    func check() async throws

    /// Records until it is cancelled, or until nothing more can come: after a single poll, or once the remote ended for
    /// good.
    ///
    /// - Throws: `CancellationError` once cancelled; `IngestError` if going on would not help; the errors of `append`.
    func run(_ recording: Recording) async throws
}

extension LiveSource {
    /// Checks nothing.
    public func check() async throws {}
}
#endif
