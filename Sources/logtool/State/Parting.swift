import EventLog
import Projections

/// The first event after which two readings part, and what it changed in each.
struct Parting {
    let event: Envelope
    let changes: [[StateDifference]]

    /// Events between two comparisons: their digests are all that is kept.
    private static let countMax: UInt64 = 4_096

    /// Folds both readings side by side and compares the digests after each event.
    ///
    /// - Returns: `nil` where they are the same after every event of the shorter one.
    static func find(_ stores: [EventStore], _ queries: [StateQuery], progress: Progress) throws -> Parting? {
        let ends = try zip(stores, queries).map { store, query in
            try store.read { session in
                try query.checkNames(in: session)
                return try query.point?.resolve(in: session) ?? session.head
            }
        }
        guard let end = ends.min() else { return nil }
        let decided = try stores.map { try $0.read { $0.decidedAt } }.max() ?? .zero
        var states = try zip(stores, queries).map { store, query in
            try store.read { try Replay.workspace(of: $0, through: min(decided, end), options: query.replayOptions) }
        }
        if states[0].digest() != states[1].digest() {
            throw Failure("diff --first: the two differ before the first event that is held (\(decided)); compare them there")
        }
        var place = min(decided, end)
        while place < end {
            let next = SequenceNumber(min(place.rawValue + countMax, end.rawValue))
            var digests: [[SequenceNumber: Hash256]] = []
            for index in states.indices {
                var own: [SequenceNumber: Hash256] = [:]
                states[index] = try stores[index].read { session in
                    let options = queries[index].replayOptions
                    return try Replay.advance(states[index], over: session, through: next, options: options) {
                        own[$0.sequence] = $1.digest()
                        return true
                    }
                }
                digests.append(own)
            }
            let sequences = Set(digests[0].keys).union(digests[1].keys).sorted()
            if let first = sequences.first(where: { digests[0][$0] != digests[1][$0] }) {
                return try parting(at: first, stores, queries)
            }
            place = next
            progress.report("comparing at \(place)", done: Int(place.rawValue), total: Int(end.rawValue))
        }
        return nil
    }

    private static func parting(
        at sequence: SequenceNumber,
        _ stores: [EventStore],
        _ queries: [StateQuery]
    ) throws -> Parting? {
        var event: Envelope?
        let changes = try zip(stores, queries).map { store, query in
            var own: [StateDifference] = []
            try store.read { session in
                try Replay.steps(of: session, in: sequence...sequence, options: query.replayOptions) { envelope, changes in
                    (event, own) = (event ?? envelope, changes)
                    return true
                }
            }
            return own
        }
        return event.map { Parting(event: $0, changes: changes) }
    }
}

/// Tells where two readings part.
struct PartingPrinter {
    let output: StandardOutput
    let form: ListForm

    func print(_ parting: Parting?) throws {
        guard form == .text else { return try output.line(Self.json(parting).text) }
        guard let parting else { return try output.line("the two are the same after every event") }
        let event = parting.event
        try output.line(output.style.text("first: event \(event.sequence)", .heading))
        let place = "\(TimeText.full(event.recordedAt))  \(event.source)  \(event.kind)"
        try output.line(DisplayText.escaped(place))
        for (name, changes) in zip(["a", "b"], parting.changes) {
            try output.line()
            try output.line(output.style.text("in \(name):", .heading))
            let rows = StateDiff.document(changes)["differences"]?.array ?? []
            for row in rows { try DifferencePrinter(output: output).print(row) }
            if rows.isEmpty { try output.line(output.style.text("  changed nothing", .quiet)) }
        }
    }

    private static func json(_ parting: Parting?) -> JSONValue {
        guard let parting else { return .object(["same": .bool(true)]) }
        let changes = parting.changes.map { StateDiff.document($0)["differences"] ?? .array([]) }
        return .object([
            "same": .bool(false), "first": .string(parting.event.sequence.description),
            "event": .object(EventJSON.object(for: parting.event)), "a": changes[0], "b": changes[1],
        ])
    }
}
