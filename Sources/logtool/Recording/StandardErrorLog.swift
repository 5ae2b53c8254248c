#if Recorders
import EventLog
import Logging

/// Writes swift-log's messages to standard error, one line each: time, level, message, then `name=value` by name.
/// Everything is escaped, because errors quote what remotes sent. One write a message keeps the lines of several
/// threads apart.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // Metadata of the message wins over that of the logger.
        let all = metadata.merging(event.metadata ?? [:]) { _, given in given }
        let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
        StandardError.line(DisplayText.escaped("\(SystemClock.now) \(event.level) \(event.message)\(pairs)"))
    }

    /// A value in quotes where it would be read as several words. Quotes within become apostrophes.
    private static func quoted(_ text: String) -> String {
        text.isEmpty || text.contains { $0 == " " || $0 == "=" || $0 == "\"" }
            ? "\"\(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "'"))\"" : text
    }
}
#endif
