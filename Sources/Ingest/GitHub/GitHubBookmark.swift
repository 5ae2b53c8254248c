#if Recorders
import EventLog

/// The bookmark of a recorder of a branch: the tip, like that of `GitSource`, and on a second line the last instant at
/// which the recorder is known to have listened.
struct GitHubBookmark: Equatable {
    let tip: String
    /// `nil` in a bookmark that `GitSource` left.
    var alive: Timestamp?

    init(tip: String, alive: Timestamp?) {
        (self.tip, self.alive) = (tip, alive)
    }

    /// Reads a bookmark; `nil` if the bytes are not one.
    init?(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard let tip = lines.first.map(String.init), GitRepository.isObjectID(tip) else { return nil }
        self.init(tip: tip, alive: lines.count > 1 ? Timestamp(rfc3339: String(lines[1])) : nil)
    }

    /// The first line alone is what `GitSource` writes and reads, so that either recorder can go on from the other's
    /// bookmark.
    var bytes: [UInt8] { Array((alive.map { "\(tip)\n\($0)" } ?? tip).utf8) }
}
#endif
