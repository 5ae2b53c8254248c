package import EventLog
import JSON
package import Projections

/// Makes chunks of a log, for a page that holds few of them: `eventlog.steps/1` of some events, whose first state has only some
/// rows. `docs/steps.md` describes them.
///
/// Keeps the state behind the last chunk, from which the next one is made.
package struct StepChunks: Sendable {
    /// The most events of a chunk.
    package static let eventsMax: UInt64 = 32

    private let title: String
    private let reading: String
    private let options: ReplayOptions
    /// The state behind the last chunk, and the generation of the log that it was folded from.
    private var walk: (steps: StepWalk, generation: UInt32)?

    /// - Parameters:
    ///   - title: What the page calls the log.
    ///   - reading: The name of the profile that `options` read by.
    package init(title: String, reading: String, options: ReplayOptions) {
        (self.title, self.reading, self.options) = (title, reading, options)
    }

    /// Writes the header, the state before the events as far as it is in the window, and for each event its step and its line
    /// of an export.
    ///
    /// Cost: events since the nearest kept state, unless the chunk follows the last one; then what `StepWalk.stretch` and
    /// `LogState.window` take.
    ///
    /// - Parameters:
    ///   - range: The events; at most `eventsMax`.
    ///   - wanted: The places that are in the window beside those that the events touch.
    ///   - size: How much the window has of each place.
    /// - Throws: as `Replay.logState` for the point before the range; what `write` throws.
    package mutating func write(
        _ range: ClosedRange<SequenceNumber>,
        in wanted: Set<PlaceName>,
        _ size: StateWindow.Size,
        of session: borrowing ReadSession,
        to write: ([UInt8]) throws -> Void
    ) throws {
        let before = SequenceNumber(max(range.lowerBound.rawValue, 1) - 1)
        var steps: StepWalk
        if let walk, walk.generation == session.generationNumber, walk.steps.sequence == before {
            steps = walk.steps
        } else {
            // Two whole states less while the next one is folded.
            walk = nil
            steps = StepWalk(from: try Replay.logState(of: session, through: before, options: options))
        }
        // Held by nobody else while it is folded, or it would be copied; and of no use once that fails.
        walk = nil
        let chunk = try steps.stretch(through: range.upperBound, over: session, options: options) { state, touched in
            state.window(around: touched, in: wanted, size)
        }
        walk = (steps, session.generationNumber)
        try write(Steps.line(header(of: chunk.before, range, session)))
        try write(Steps.line(Steps.step(before, chunk.before.rows, orders: chunk.before.orders)))
        try writeEvents(in: range, of: session, to: write)
        var left = options.without.filter { range.contains($0) }.sorted()[...]
        for step in chunk.steps {
            try writeEmpty(&left, before: step.event.sequence, to: write)
            try write(Steps.line(Steps.step(step.event.sequence, step.differences, orders: step.orders)))
        }
        try writeEmpty(&left, before: range.upperBound.next, to: write)
    }

    /// Writes a chunk of one event, whose window has the channel that the event changes, and nothing of other places.
    ///
    /// Cost: as `Replay.channelStep`.
    ///
    /// - Parameters:
    ///   - sequence: The event.
    ///   - size: How much the window has of the channel.
    /// - Returns: False, with nothing written, where that does not tell what the event changed.
    /// - Throws: as `Replay.channelStep`; what `write` throws.
    package func writeStep(
        at sequence: SequenceNumber,
        _ size: StateWindow.Size,
        of session: borrowing ReadSession,
        to write: ([UInt8]) throws -> Void
    ) throws -> Bool {
        guard let step = try Replay.channelStep(at: sequence, size, of: session, options: options) else { return false }
        var header = try header(of: step.before, sequence...sequence, session)
        header["alone"] = .bool(true)
        try write(Steps.line(header))
        let before = SequenceNumber(sequence.rawValue - 1)
        try write(Steps.line(Steps.step(before, step.before.rows, orders: step.before.orders)))
        try writeEvents(in: sequence...sequence, of: session, to: write)
        try write(Steps.line(Steps.step(sequence, step.step.differences, orders: step.step.orders)))
        return true
    }

    /// Writes the steps of events that are left out, which change nothing.
    private func writeEmpty(
        _ left: inout ArraySlice<SequenceNumber>,
        before end: SequenceNumber,
        to write: ([UInt8]) throws -> Void
    ) throws {
        while let sequence = left.first, sequence < end {
            try write(Steps.line(Steps.step(sequence, [], orders: [:])))
            left.removeFirst()
        }
    }

    /// The first line of the page: the whole log, and how many events a chunk has.
    package func header(_ range: ClosedRange<SequenceNumber>, of session: borrowing ReadSession) throws -> JSONObject {
        [
            "format": .string(Steps.format), "title": .string(title), "profile": .string(reading),
            "from": .string(range.lowerBound.description), "to": .string(range.upperBound.description),
            "size": .string(session.head.description),
            "root": .string(try session.root(size: session.head.rawValue).hex),
        ]
    }

    private func header(
        of window: StateWindow,
        _ range: ClosedRange<SequenceNumber>,
        _ session: borrowing ReadSession
    ) throws -> JSONObject {
        var header = try header(range, of: session)
        window.describe(in: &header)
        return header
    }

    private func writeEvents(
        in range: ClosedRange<SequenceNumber>,
        of session: borrowing ReadSession,
        to write: ([UInt8]) throws -> Void
    ) throws {
        var writer = ExportWriter()
        try session.forEachEvent(in: range) { event in
            try session.check(event)
            try write(writer.line(event))
            return true
        }
    }
}

extension StateWindow {
    /// Adds to the header of a chunk what the window leaves out.
    func describe(in header: inout JSONObject) {
        header["places"] = .array(
            places.map { place in
                .object([
                    "place": .string(place.name.text), "count": .int(place.count),
                    "hidden": place.hidden.map { .int($0) },
                ])
            }
        )
        var hidden = JSONObject()
        for (thing, count) in self.hidden.sorted(by: { $0.key.description < $1.key.description }) {
            hidden[thing.description] = .int(count)
        }
        header["hidden"] = .object(hidden)
    }
}
