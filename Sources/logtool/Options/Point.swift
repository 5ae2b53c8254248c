import ArgumentParser
import EventLog

/// A place in a log as the command line writes it.
enum Point: Hashable {
    /// `4711`: right after that event; `0`: before the first.
    case sequence(SequenceNumber)
    /// `head`, `head~10`: so many sequences below the head.
    case head(back: UInt64)
    /// A time: the longest prefix whose clock is at or before it.
    case recorded(Timestamp)
    /// `remote:TIME`: the same by the remote's own time.
    case remote(Timestamp)

    /// Reads a point.
    ///
    /// - Throws: `ValidationError` that says which forms there are.
    static func parse(_ text: String) throws -> Point {
        if let point = point(text) { return point }
        throw ValidationError(
            "\"\(text)\" is no point: write a sequence (4711), head, head~10, a time (2026-01-19T08:30:00Z)"
                + " or remote:TIME"
        )
    }

    private static func point(_ text: String) -> Point? {
        if let number = plainNumber(text[...]) { return .sequence(SequenceNumber(number)) }
        if text == "head" { return .head(back: 0) }
        if text.hasPrefix("head~") { return plainNumber(text.dropFirst(5)).map { .head(back: $0) } }
        if text.hasPrefix("remote:") { return Timestamp(rfc3339: text.dropFirst(7)).map { .remote($0) } }
        return Timestamp(rfc3339: text).map { .recorded($0) }
    }

    private static func plainNumber(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }
}
