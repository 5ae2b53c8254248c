extension EventStore {
    /// The held events of a range in sequence order, for a `for try await` loop.
    ///
    /// Copies the events in chunks, each in a read session of its own, so that a slow loop holds no old version of the
    /// log. If a compaction or another rewrite comes between two chunks, the loop throws instead of mixing events of
    /// both generations.
    ///
    /// - Parameter range: the sequences, both ends included; `nil` for all up to the head when the loop begins.
    public func events(in range: ClosedRange<SequenceNumber>? = nil) -> RecordedEvents {
        RecordedEvents(store: self, range: range)
    }
}

/// The events of a log, one after another.
///
/// Memory: one chunk, which ends at 1,000 events or once it has 4 MiB of payload. Throws `EventLogError` if the log
/// cannot be read, with code `invalidArgument` if it was rewritten meanwhile.
public struct RecordedEvents: AsyncSequence, Sendable {
    let store: EventStore
    let range: ClosedRange<SequenceNumber>?

    /// Begins at the range's first event.
    public func makeAsyncIterator() -> Iterator {
        Iterator(store: store, range: range)
    }

    /// The position of a loop in the log.
    public struct Iterator: AsyncIteratorProtocol {
        private static let chunkEventsMax = 1_000
        private static let chunkBytesMax = 4 << 20
        private let store: EventStore
        /// The last sequence of the loop; without a range, the head at the first chunk.
        private var last: SequenceNumber?
        /// The sequence that the next chunk begins with.
        private var next: SequenceNumber
        /// Events that are read but not returned yet, in reverse order.
        private var chunk: [RecordedEvent] = []
        /// The generation of the first chunk; `nil` before it.
        private var generation: UInt32?

        init(store: EventStore, range: ClosedRange<SequenceNumber>?) {
            self.store = store
            last = range?.upperBound
            next = range?.lowerBound ?? SequenceNumber(1)
        }

        /// The next event; `nil` after the last.
        public mutating func next() async throws -> RecordedEvent? {
            try step()
        }

        private mutating func step() throws -> RecordedEvent? {
            if chunk.isEmpty { try fill() }
            return chunk.popLast()
        }

        /// Reads the next chunk and reverses it, so that `popLast` takes its first event in O(1).
        private mutating func fill() throws {
            let first = Swift.max(next, SequenceNumber(1))
            let (events, end, generation) = try store.read { session in
                let end = Swift.min(last ?? session.head, session.head)
                guard first <= end else { return ([RecordedEvent](), end, session.generationNumber) }
                return (try Self.events(of: session, in: first...end), end, session.generationNumber)
            }
            guard generation == self.generation ?? generation else { throw rewritten() }
            self.generation = generation
            last = last ?? end
            chunk = events.reversed()
            if let sequence = events.last?.envelope.sequence { next = sequence.next }
        }

        private func rewritten() -> EventLogError {
            EventLogError(
                .invalidArgument,
                operation: "read the events of",
                object: store.path,
                reason: "the log was compacted or rewritten in another way while they were read",
                advice: "begin again"
            )
        }

        private static func events(
            of session: borrowing ReadSession,
            in range: ClosedRange<SequenceNumber>
        ) throws -> [RecordedEvent] {
            var events: [RecordedEvent] = []
            var bytes = 0
            try session.forEachEvent(in: range) { event in
                let copy = event.copied()
                bytes += copy.payload.count
                events.append(copy)
                return events.count < chunkEventsMax && bytes < chunkBytesMax
            }
            return events
        }
    }
}
