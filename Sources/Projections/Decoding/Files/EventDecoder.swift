public import EventLog
import Kinds

/// A decoder in Swift of an app's own events: of a kind that this package does not know, or of a source.
///
/// It is registered for a log that a program has open (`Decoders.register`). Every call that reads the log then follows it:
/// replays, differences, histories, compactions, reductions, caches. It counts at every point of the log, since it says how
/// bytes are read, not what happened.
///
/// A pure value: the same events give the same changes, so no clock, no randomness, no locale, no environment, no order
/// taken from a `Set` or a `Dictionary`. It has no memory of its own. What an event must know of earlier ones is in the
/// builder, where a compaction finds it (`ChangeBuilder.remember`, `isRepeat`).
public protocol EventDecoder: Sendable {
    /// The name and version, as `chat/1`. States that are kept beside a log are bound to it, so it changes with every change
    /// of what the decoder gives. Issues begin with it.
    var name: String { get }

    /// What orders the messages of a channel; by id if the decoder does not say.
    var messageOrdering: MessageOrdering { get }

    /// Reads one event and states what it changes. Total: a payload that does not decode gives an issue
    /// (`ChangeBuilder.issue`), never a crash; time and memory are linear in its size.
    ///
    /// - Parameters:
    ///   - event: The events come in log order, each once, those that went to the remote too (attribute `dir` is `out`).
    ///   - changes: Takes the changes. They are applied in the order in which they are stated, all or none.
    func decode(_ event: ReceivedEvent, into changes: inout ChangeBuilder)
}

extension EventDecoder {
    /// By id.
    public var messageOrdering: MessageOrdering { .byID }
}

/// What orders the messages of a channel.
public enum MessageOrdering: Hashable, Sendable {
    /// By id, as integers. Ids that are no integers follow, by their UTF-8 bytes.
    case byID
    /// By the time of creation, then by id.
    case byCreation
}

/// One event as a decoder gets it.
public struct ReceivedEvent: Sendable {
    /// Everything but the bytes. The time of receipt is the recorder's, not the remote's.
    public let envelope: Envelope
    /// The bytes as the remote sent them, or their substitute if the event is redacted.
    public let payload: [UInt8]

    /// The payload as JSON, of a Server-Sent Event an object of `event` and `data`; `nil` if it is none. Parsed with each
    /// call, in O(bytes); a number keeps its digits.
    public var json: JSONValue? {
        payload.withUnsafeBytes { FileDecoder.value(envelope, $0) }
    }
}

/// The decoders that a program has registered for a log, and the files that it reads in place of those in force.
struct RegisteredDecoders: Sendable {
    var sources: [SourceName: any EventDecoder] = [:]
    var kinds: [EventKind: any EventDecoder] = [:]
    /// In place of the files in force.
    var standIns: [SourceName: DecoderFile] = [:]

    /// Names each decoder and what it reads, in a fixed order; empty without decoders. Derived data are bound to it.
    var fingerprint: String {
        let lines =
            sources.map { "source \($0.key) \($0.value.name)" }
            + kinds.map { "kind \($0.key.rawValue) \($0.value.name)" }
            + standIns.map { "file \($0.key) \($0.value.hash.hex)" }
        return lines.sorted { ExactText.precedes($0, $1) }.joined(separator: "\n")
    }

    /// Those of the log that a session reads.
    init(of session: borrowing ReadSession) {
        self = session.attachment as? RegisteredDecoders ?? RegisteredDecoders()
    }

    init() {}
}

extension Decoders {
    /// Registers a decoder for all events of a source whose kinds no built-in decoder reads: kinds of one's own, generic
    /// kinds such as `ws.frame/1`, and Server-Sent Events. It reads them in place of a decoder for the kind, and of the
    /// decoder file that is in force.
    ///
    /// It counts for this `store`, until the store is gone: nothing is written into the log. Register before the first
    /// replay; a state that was made before is not read anew. A program without the decoder keeps the events that it
    /// cannot read, also when it compacts.
    ///
    /// - Throws: `EngineError` if the decoder's name is empty.
    public static func register(
        _ decoder: some EventDecoder,
        for source: SourceName,
        in store: EventStore
    ) throws {
        try check(decoder)
        attach(to: store) { $0.sources[source] = decoder }
    }

    /// Registers a decoder for all events of a kind, of any source without a decoder of its own. As for a source.
    ///
    /// - Throws: `EngineError` if a built-in decoder reads the kind, or the decoder's name is empty.
    public static func register(
        _ decoder: some EventDecoder,
        for kind: EventKind,
        in store: EventStore
    ) throws {
        let family = EventFamily(kind: kind)
        guard family == .unknown || family == .generic || kind.is(.serverSentEvent) else {
            throw EngineError(
                "register decoder \"\(decoder.name)\": the kind \(kind.rawValue) is read by this package; register for a kind "
                    + "of your own, such as myapp.change/1"
            )
        }
        try check(decoder)
        attach(to: store) { $0.kinds[kind] = decoder }
    }

    private static func check(_ decoder: some EventDecoder) throws {
        guard !decoder.name.isEmpty else {
            throw EngineError("register a decoder: its name is empty; name it and its version, such as chat/1")
        }
    }

    static func attach(to store: EventStore, _ change: (inout RegisteredDecoders) -> Void) {
        store.changeAttachment { attachment in
            var registered = attachment as? RegisteredDecoders ?? RegisteredDecoders()
            change(&registered)
            return registered
        }
    }
}

extension Decoders {
    /// Whether a decoder file or a registered decoder is meant for events of a kind and source.
    package func reads(_ kind: EventKind, of source: SourceName) -> Bool {
        if rules(of: source) != nil || fault(of: source) != nil { return true }
        return registered.kinds[kind] != nil || registered.sources[source] != nil
    }
}
