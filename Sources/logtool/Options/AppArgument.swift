import ArgumentParser
import EventLog
import Projections

/// The app that a source is of, where its kind alone does not tell.
enum AppArgument {
    /// The names that there are, for help.
    static let names = BuiltInApp.allCases.map(\.rawValue).joined(separator: ", ")

    /// Reads the argument of `--app`.
    ///
    /// - Throws: `ValidationError` for any other name.
    static func parse(_ text: String) throws -> BuiltInApp {
        if let app = BuiltInApp(rawValue: text) { return app }
        throw ValidationError("there is no app \"\(text)\"; there are \(names)")
    }

    /// The file that declares an app, for a source of a log that may be missing.
    ///
    /// - Throws: `EngineError` as `Decoders.checkDropped`, before anything is recorded.
    static func file(_ app: BuiltInApp, for source: SourceName, of log: String) throws -> DecoderFile {
        try DecoderArgument.checked(DecoderFile(declaring: app), for: source, of: log)
    }

    /// The head of a log that has no event of a source yet and no act that says what reads it; `nil` of any other.
    static func headBefore(_ source: SourceName, in log: String) throws -> SequenceNumber? {
        do {
            return try EventStore.open(at: log).read { session in
                let isNew = try session.kindsBySource()[source] == nil
                return try isNew && Decoders.act(for: source.rawValue, in: session) == nil ? session.head : nil
            }
        } catch let error as EventLogError where error.code == .noLog {
            return .zero
        }
    }

    /// Declares that a source is of no app that is built in, if its first events show that, and says so.
    ///
    /// - Parameter head: behind which the source begins; `nil` if it is not new, and nothing is done.
    static func judge(_ source: SourceName, behind head: SequenceNumber?, in log: String, isQuiet: Bool) throws {
        guard let head else { return }
        let store = try EventStore.open(at: log)
        guard let doubt = try store.read({ try BuiltInApp.doubt(of: source, behind: head, in: $0) }) else { return }
        _ = try DecoderArgument.put(DecoderFile(declaring: .none), source, in: store)
        if isQuiet { return }
        StandardError.line(
            DisplayText.escaped(
                "logtool: source \(source): \(doubt), so its rows are rows and its streams no lists of items; if they are: logtool "
                    + "decoder \(log) set \(source) --app NAME"
            )
        )
    }
}
