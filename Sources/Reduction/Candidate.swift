package import EventLog
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One event of a candidate, with its recorded payload or a cut one.
package struct CandidateEvent: Sendable {
    /// The event's index among those that the search began with; `EventLinks` uses it.
    let place: Int
    /// The event's sequence in the log that is shrunk.
    package let origin: SequenceNumber
    /// The event as the smaller log gets it.
    package internal(set) var draft: DraftEvent
    /// The hash of a changed payload; `nil` for the recorded one.
    private(set) var change: Hash256?

    init(place: Int, origin: SequenceNumber, draft: DraftEvent) {
        (self.place, self.origin, self.draft) = (place, origin, draft)
    }

    /// True if the payload, the key or an attribute contains a text. Payloads are compared byte for byte, so a text
    /// that JSON escapes is not found.
    func holds(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        let isInPayload = draft.payload.withUnsafeBytes { Self.contains($0, wanted) }
        if isInPayload { return true }
        return (draft.key?.rawValue.contains(text) ?? false)
            || draft.attributes.pairs.contains { $0.value.contains(text) }
    }

    /// A search by `memchr` and `memcmp`. `start` never passes the last place where the text fits, so all `memcmp`
    /// reads stay in the buffer.
    private static func contains(_ bytes: UnsafeRawBufferPointer, _ wanted: [UInt8]) -> Bool {
        guard let first = wanted.first, let base = bytes.baseAddress else { return wanted.isEmpty }
        var start = 0
        while bytes.count - start >= wanted.count,
            let found = memchr(base + start, Int32(first), bytes.count - start - wanted.count + 1)
        {
            if memcmp(found, wanted, wanted.count) == 0 { return true }
            start = UnsafeRawPointer(found) - base + 1
        }
        return false
    }

    /// The same event with another payload.
    func with(payload: [UInt8]) -> CandidateEvent {
        var event = self
        event.draft.payload = payload
        event.change = Hasher256.hash(payload)
        return event
    }
}

/// Events of a log that may suffice for a test, in the order of the log.
struct Candidate: Sendable {
    var events: [CandidateEvent]
    /// The issues that the state may have; `nil` allows any. This keeps cut payloads decodable.
    var issuesAllowed: Set<String>?

    init(_ events: [CandidateEvent], issuesAllowed: Set<String>? = nil) {
        (self.events, self.issuesAllowed) = (events, issuesAllowed)
    }

    /// Identifies the candidate within one search: a hash over its events' sequences and changed payloads. Sequences do
    /// not begin with 0xFF, which marks a changed payload.
    var identity: Hash256 {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(events.count * 8 + 1)
        bytes.append(issuesAllowed == nil ? 0 : 1)
        for event in events {
            withUnsafeBytes(of: event.origin.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
            guard let change = event.change else { continue }
            bytes.append(contentsOf: [0xFF])
            bytes.append(contentsOf: change.bytes)
        }
        return Hasher256.hash(bytes)
    }

    /// All events of a log but its acts, in memory. Events that compactions dropped are missing.
    ///
    /// - Throws: `EventLogError` with code `damaged` for an event that does not fit its leaf hash: the smaller log would
    ///   hold it as if it had been appended so (I7).
    static func whole(of session: borrowing ReadSession) throws -> Candidate {
        var events: [CandidateEvent] = []
        guard session.head > .zero else { return Candidate([]) }
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            if event.isAct { return true }
            try session.check(event)
            events.append(CandidateEvent(place: events.count, origin: event.sequence, draft: event.draft))
            return true
        }
        return Candidate(events)
    }
}
