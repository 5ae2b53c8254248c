import ArgumentParser
import EventLog
import Projections

/// Points as options.
///
/// Points are resolved later, in a session: head and clock are the log's.
enum PointArgument {
    /// A point as people write it; `parse` reads it back.
    static func text(_ point: Point) -> String {
        switch point {
        case .sequence(let sequence): sequence.description
        case .belowHead(let count): "head~\(count)"
        case .time(let time): TimeText.short(time)
        case .remoteTime(let time): "remote:" + TimeText.short(time)
        }
    }

    /// Reads a point.
    ///
    /// - Throws: `ValidationError` that lists the forms of points.
    static func parse(_ text: String) throws -> Point {
        if let point = Point(text) { return point }
        throw ValidationError(
            "\"\(text)\" is no point: write a sequence (4711), head, head~10, a time (2026-01-19T08:30:00Z, 2026-01-19)"
                + " or remote:TIME"
        )
    }
}
