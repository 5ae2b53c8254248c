import ArgumentParser
import EventLog
import JetStream
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

/// Where a list begins: at a point, or, for `events --follow`, in a stream that the log is brought up to first.
enum StartArgument {
    case point(Point)
    case address(String)

    var point: Point? {
        if case .point(let point) = self { point } else { nil }
    }

    var address: String? {
        if case .address(let text) = self { text } else { nil }
    }

    /// Reads a point or an address.
    ///
    /// - Throws: `ValidationError` for what is neither.
    static func parse(_ text: String) throws -> StartArgument {
        NATSAddress.isAddress(text) ? .address(text) : .point(try PointArgument.parse(text))
    }
}
