import EventLog
import Projections

/// The things, and the entries of their histories, that selectors choose. `EventSelection` does the same for events.
struct HistorySelection {
    private let selectors: SelectorOptions
    /// The requested sequences; `nil` if none lies between `--from` and `--to`. All of the log without these options.
    private let range: ClosedRange<SequenceNumber>?

    /// - Throws: `Failure` with exit code 1 if the log has no such source or kind.
    init(_ selectors: SelectorOptions, in session: borrowing ReadSession) throws {
        self.selectors = selectors
        try KnownNames(session).check(source: selectors.source, kind: selectors.kind)
        range = try selectors.range.range(in: session)
    }

    /// True if a thing is of the requested source, and is the requested entity or in the requested channel. Names may
    /// lack their first parts, as in `EntityReference.fits`.
    func includes(_ thing: EntityReference) -> Bool {
        if let source = selectors.source, thing.parts.first != source.rawValue { return false }
        if let entity = selectors.entity { return entity.fits(thing.parts) }
        guard let channel = selectors.channel else { return true }
        return thing.channel.map { channel.fits($0.parts) } ?? false
    }

    /// True if an event is in the requested range.
    func includes(_ sequence: SequenceNumber) -> Bool {
        range?.contains(sequence) == true
    }

    /// The last `-n` of the entries that events of the requested range and kind made. With a kind, each entry's event
    /// is read.
    func chosen(_ entries: [HistoryEntry], in session: borrowing ReadSession) throws -> [HistoryEntry] {
        var fitting: [HistoryEntry] = []
        for entry in entries where includes(entry.sequence) {
            if let kind = selectors.kind {
                guard try session.event(at: entry.sequence)?.envelope.kind.isNamed(kind) == true else { continue }
            }
            fitting.append(entry)
        }
        return fitting.suffix(selectors.count ?? fitting.count)
    }

    /// The error for a thing none of whose entries fits.
    func nothingFits(_ thing: EntityReference, of count: Int) -> Failure {
        let names = selectors.given.joined(separator: " and ")
        return Failure(
            "history \"\(thing)\": none of its \(count) entries fits \(names); leave them out to see all",
            exitCode: Outcome.no
        )
    }
}
