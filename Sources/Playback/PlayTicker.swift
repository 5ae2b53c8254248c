#if Recorders
import EventLog
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Waits until an event is due or released, for playbacks without a client (files, commits).
struct PlayTicker {
    private let inbox: PlayInbox
    private var pace: PlayPace

    init(_ play: PlayContext) {
        inbox = play.inbox
        pace = PlayPace(speed: play.speed, isStepping: play.isStepping)
    }

    /// Whether every event may be given at once.
    var isImmediate: Bool { pace.isImmediate }

    /// Returns when an event may be given, and counts it as given.
    ///
    /// - Throws: `CancellationError`.
    mutating func wait(for recorded: Timestamp) async throws {
        while true {
            for case .stepped(let count) in inbox.takeAll() { pace.releases += count }
            try Task.checkCancellation()
            let wait = pace.wait(for: recorded, at: .now)
            if wait == .zero { return pace.gave() }
            await inbox.wait(upTo: wait)
        }
    }
}

/// Directories that play writes into.
enum PlayDirectory {
    /// Makes a directory, or accepts an empty one. Parents are not made.
    ///
    /// - Throws: `EngineError` with code `refused` if it is not empty and `mayOverwrite` is false, 2 if it cannot be made or
    ///   read.
    static func prepare(_ path: String, mayOverwrite: Bool) throws {
        let files = FileManager.default
        guard files.fileExists(atPath: path) else {
            guard mkdir(path, 0o700) == 0 else {
                throw EngineError("play: \"\(path)\" cannot be made: \(String(cString: strerror(errno)))")
            }
            return
        }
        guard let names = try? files.contentsOfDirectory(atPath: path) else {
            throw EngineError("play: \"\(path)\" is no directory that can be read; name another with --to")
        }
        if names.isEmpty || mayOverwrite { return }
        throw EngineError(
            "play: \"\(path)\" is not empty; name another directory, or add --yes to write into it",
            code: .refused
        )
    }
}
#endif
