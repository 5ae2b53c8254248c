package import EventLog
import JSON
import Kinds

/// Searches that fold only the channels in which what they want can be.
extension Replay {
    /// The state at the head of those channels alone whose histories can have what a search for a text wants; every other history
    /// of the whole state holds the text nowhere. The texts of a history stand in the payloads of its events, as they are or in
    /// JSON escapes, so the payloads tell which channels these are.
    ///
    /// Cost: one look through all payloads, and the events of the channels. The first search of a log scans it for the index of
    /// channels.
    ///
    /// - Parameter filter: names a text.
    /// - Returns: `nil` if the whole state must be searched: events that hold the text concern more than channels, are many, or
    ///   name long or many channels; the text stands in a word of the program's own; or the index does not serve (see `channels`).
    /// - Throws: as `logState`.
    package static func channels(
        holding filter: HistoryFilter,
        in session: borrowing ReadSession,
        options: ReplayOptions,
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> LogState? {
        guard let text = filter.text, !GatewayMembers.ownWords.contains(where: text.occurs(in:)),
            // A surrogate without its other half becomes this mark.
            !text.occurs(in: "\u{FFFD}"), try isToldByPayloads(session),
            let entriesMax = try searchedMax(in: session, options),
            let touched = try TouchedChannels(session, after: .zero, through: session.head, holding: text)
        else { return nil }
        return try state(of: touched, entriesMax: entriesMax, session, options, progress)
    }

    /// How many events of the end are looked at first for the last entries; then four times as many, as often as it takes.
    private static let lastEventsMin: UInt64 = 16

    /// The state at the head of those channels alone that the last events of a log changed, from enough of these events on.
    ///
    /// - Parameter isEnough: Whether a state has all that is wanted behind a point: of what lies before it, it lacks other channels.
    /// - Returns: `nil` if the whole state must be searched, as for `channels(holding:)`.
    /// - Throws: as `logState`, and what `isEnough` throws.
    package static func channels(
        ofLastEventsIn session: borrowing ReadSession,
        options: ReplayOptions,
        progress: ((SequenceNumber) -> Void)? = nil,
        isEnough: (LogState, _ point: SequenceNumber) throws -> Bool
    ) throws -> LogState? {
        guard let entriesMax = try searchedMax(in: session, options) else { return nil }
        var count = lastEventsMin
        while count <= TouchedChannels.eventsMax, count < session.head.rawValue {
            let point = SequenceNumber(session.head.rawValue - count)
            guard let touched = try TouchedChannels(session, after: point, through: session.head),
                let state = try state(of: touched, entriesMax: entriesMax, session, options, progress)
            else { return nil }
            if try isEnough(state, point) { return state }
            count *= 4
        }
        return nil
    }

    /// What the folds of channels for a search may cost, in plain frames: half of the whole state, so that a search that must turn
    /// to it has lost little; `nil` if the index of channels does not serve, or the log is folded before an index of it is made.
    private static func searchedMax(in session: borrowing ReadSession, _ options: ReplayOptions) throws -> UInt64? {
        guard let keeping = options.keeping, options.readsAll, try session.fact(factName) == nil else { return nil }
        guard keeping.weighsChannels else { return .max }
        let cost = costFromKept(session, through: session.head, options)
        return cost >= UInt64(keeping.channelEventsMin) ? cost / 2 : nil
    }

    private static func state(
        of touched: TouchedChannels,
        entriesMax: UInt64,
        _ session: borrowing ReadSession,
        _ options: ReplayOptions,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> LogState? {
        // As for `differences`: an index serves later searches, too, so it may cost four times the whole state.
        let scannedMax = entriesMax.multipliedReportingOverflow(by: 8)
        guard
            var replay = try index(
                of: session,
                through: session.head,
                options,
                progress,
                scannedMax: scannedMax.overflow ? .max : scannedMax.partialValue
            )
        else { return nil }
        return try replay.state(of: touched, through: session.head, entriesMax: entriesMax, session)
    }

    /// The first event whose payload holds a text, as it is or in JSON escapes, if no message can say it before: the contents of a
    /// gateway's messages stand in payloads, for every client.
    ///
    /// Cost: a look through the payloads up to there.
    ///
    /// - Returns: `nil` if payloads do not tell: an event is of another app, a compaction has kept what dropped events said, the text may
    ///   be that of a number, or no event holds it.
    /// - Throws: `EventLogError` if the log cannot be read.
    package static func firstEvent(holding text: String, in session: borrowing ReadSession) throws -> SequenceNumber? {
        // A client of a gateway takes a number for its text, which it writes in its own way.
        let isOfNumbers = text.utf8.allSatisfy { "0123456789+-.eInfinityNaN".utf8.contains($0) }
        guard !isOfNumbers, !text.contains("\u{FFFD}"), session.head > .zero,
            try session.fact(factName) == nil, try isToldByPayloads(session),
            let search = TextSearch(text, ignoresCase: false)
        else { return nil }
        var first: SequenceNumber?
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            if event.withPayload({ search.occursUnescaped(in: $0) }) { first = event.sequence }
            return first == nil
        }
        return first
    }

    /// Whether the texts of all things of a log stand in payloads: its events are of gateways, or bring no things. Other apps' decoders
    /// write words of their own.
    private static func isToldByPayloads(_ session: borrowing ReadSession) throws -> Bool {
        let kinds = try session.kindsBySource().filter { $0.key != .logtool }.values.joined()
        return kinds.allSatisfy { kind in
            switch EventFamily(kind: kind) {
            case .gateway, .gatewayAnswer, .link, .gap, .oversize, .notice, .observed: true
            case .git, .items, .status, .realtime, .cloudRecords, .generic, .unknown: false
            }
        }
    }
}
