import ArgumentParser
import Projections

/// Points as options.
enum PointArgument {
    /// Reads a point.
    ///
    /// - Throws: `ValidationError` that says which forms there are.
    static func parse(_ text: String) throws -> Point {
        if let point = Point(text) { return point }
        throw ValidationError(
            "\"\(text)\" is no point: write a sequence (4711), head, head~10, a time (2026-01-19T08:30:00Z, 2026-01-19)"
                + " or remote:TIME"
        )
    }
}
