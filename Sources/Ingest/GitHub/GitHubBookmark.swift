#if Recorders
import EventLog

/// What a recorder of a branch keeps in the source's bookmark: the tip, which is all that the recorder of a clone keeps,
/// and on a second line until when it is known to have listened.
struct GitHubBookmark: Equatable {
    let tip: String
    var alive: Timestamp?

    init(tip: String, alive: Timestamp?) {
        (self.tip, self.alive) = (tip, alive)
    }

    /// Reads a bookmark; `nil` for what is none.
    init?(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard let tip = lines.first.map(String.init), GitRepository.isObjectID(tip) else { return nil }
        self.init(tip: tip, alive: lines.count > 1 ? Timestamp(rfc3339: String(lines[1])) : nil)
    }

    var bytes: [UInt8] { Array((alive.map { "\(tip)\n\($0)" } ?? tip).utf8) }
}
#endif
