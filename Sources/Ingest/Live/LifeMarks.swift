#if Recorders
import EventLog

/// Leaves marks of life in a source's bookmark while a connection is open but silent. After a kill, the log then shows
/// how long the recorder listened (I29).
///
/// A mark is not an event: only the bookmark is written, at most once a minute.
struct LifeMarks {
    /// The silence before the first mark, and between two marks.
    static let interval = Duration.seconds(60)
    /// The interval between two looks at what was taken.
    static let look = Duration.seconds(5)

    /// The state that one look found.
    private struct Look {
        let taken: UInt64
        let elapsed: Duration
        let time: Timestamp
    }

    let sink: any PieceSink
    let clock: LiveClock

    /// Runs until the task is cancelled.
    func run() async {
        var last = look()
        var quietSince = last.elapsed
        var isTrusted = true
        while (try? await clock.tick(Self.look)) != nil {
            let now = look()
            if now.taken != last.taken {
                (quietSince, isTrusted) = (now.elapsed, true)
            } else if now.elapsed - last.elapsed > Self.look * 3 {
                // The process or the machine was suspended, so the connection may be dead without having been closed.
                isTrusted = false
            } else if isTrusted, now.elapsed - quietSince >= Self.interval {
                // The mark has the previous look's time: nothing was added since, so all that came before it is stored.
                sink.renewBookmark(ifTaken: now.taken) {
                    JournalBookmark(bytes: $0)?.marked(aliveAt: last.time).bytes
                }
                quietSince = now.elapsed
            }
            last = now
        }
    }

    private func look() -> Look {
        Look(taken: sink.takenCount, elapsed: clock.elapsed(), time: clock.now())
    }
}
#endif
