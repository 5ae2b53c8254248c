extension ReadSession {
    /// Passes the lines of the whole log to `body` as `ExportWriter` writes them, the header first. Of an event, with its
    /// sequence. Checks each event first. Not for a part.
    ///
    /// - Throws: what `body` throws; as `forEachPiece`.
    public func forEachLine(_ body: ([UInt8], SequenceNumber?) throws -> Void) throws {
        var writer = ExportWriter()
        try body(writer.line(header()), nil)
        try forEachPiece(
            event: { try body(writer.line($0), $0.sequence) },
            other: { try body(writer.line($0), nil) }
        )
    }
}
