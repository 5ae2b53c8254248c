#if Recorders
import EventLog

/// Leaves marks of life in a source's bookmark while a connection is open and nothing comes on it, so that after a kill
/// the log says until when the recorder listened.
///
/// A mark is no event: only the bookmark is written, at most once a minute.
struct LifeMarks {
    /// How long nothing comes before a mark is left, and between two marks.
    static let interval = Duration.seconds(60)
    /// How often it is looked whether something came.
    static let look = Duration.seconds(5)

    /// What one look found.
    private struct Look {
        let accepted: UInt64
        let elapsed: Duration
        let time: Timestamp
    }

    let queue: BatchQueue
    let clock: LiveClock

    /// Runs until the task is cancelled.
    func run() async {
        var last = look()
        var quietSince = last.elapsed
        var isTrusted = true
        while (try? await clock.tick(Self.look)) != nil {
            let now = look()
            if now.accepted != last.accepted {
                (quietSince, isTrusted) = (now.elapsed, true)
            } else if now.elapsed - last.elapsed > Self.look * 3 {
                // The process or the machine stood still: the connection may have died without a word.
                isTrusted = false
            } else if isTrusted, now.elapsed - quietSince >= Self.interval {
                // All that came before the last look is stored: nothing was added since.
                queue.renewBookmark(ifAccepted: now.accepted) {
                    JournalBookmark(bytes: $0)?.marked(aliveAt: last.time).bytes
                }
                quietSince = now.elapsed
            }
            last = now
        }
    }

    private func look() -> Look {
        Look(accepted: queue.acceptedCount, elapsed: clock.elapsed(), time: clock.now())
    }
}
#endif
