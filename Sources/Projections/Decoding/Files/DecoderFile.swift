public import EventLog
import JSON

/// A decoder as data: a YAML text that says how the payloads of one source become changes (`docs/decoders.md`).
///
/// A file is total: it has no loop but those over a payload, no recursion and no clock, so any payload gives changes or
/// issues in time and memory that are linear in its size. Ids and times never pass through a double.
public final class DecoderFile: Sendable {
    /// The name and version that the file gives itself, as `slack/1`.
    public let name: String
    /// The whole text, which acts and documents hold.
    public let text: String
    /// SHA-256 of the text, by which derived data are bound to it.
    public let hash: Hash256
    /// The app whose built-in decoders read the source, instead of rules; `nil` of a file that has rules.
    public let app: BuiltInApp?
    /// The protocol that wraps what the app says; `nil` if rules see payloads as they are.
    let envelope: DecoderEnvelope?
    /// How the remote writes that a member has no value.
    let absences: DecoderAbsences
    /// How repeated events are found; `nil` if they are not looked for.
    let dedupe: DecoderDedupe?
    /// What orders the messages of a channel.
    let order: DecoderOrder
    /// In the order in which they are tried: the first that fits takes the event.
    let rules: [DecoderStep]
    /// Rules for what clients say of their screens in their own words: the first that fits takes it.
    let observed: [DecoderObserved]
    /// Payloads, with the changes that each must give.
    let samples: [DecoderSample]

    init(
        name: String,
        text: String,
        app: BuiltInApp?,
        envelope: DecoderEnvelope?,
        absences: DecoderAbsences,
        dedupe: DecoderDedupe?,
        order: DecoderOrder,
        rules: [DecoderStep],
        observed: [DecoderObserved],
        samples: [DecoderSample]
    ) {
        (self.name, self.text, hash) = (name, text, Hasher256.hash(Array(text.utf8)))
        (self.app, self.envelope) = (app, envelope)
        (self.absences, self.dedupe, self.order) = (absences, dedupe, order)
        (self.rules, self.observed, self.samples) = (rules, observed, samples)
    }

    /// The longest text of a file, in bytes.
    public static let bytesMax = 256 << 10
}

/// Why a text is no decoder file.
public struct DecoderFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of the fault, from 1; `nil` if it is of the whole file.
    public let line: Int?
    /// The fault, with the words that are allowed in its place.
    public let reason: String

    /// The line and the reason.
    public var description: String { line.map { "line \($0): \(reason)" } ?? reason }

    init(_ line: Int?, _ reason: String) {
        (self.line, self.reason) = (line, reason)
    }
}

/// The forms in which a remote says that a member has no value.
struct DecoderAbsences: Sendable {
    /// Whether a missing member means that there is none. If not, it means that the event does not tell.
    var isMissing = false
    var isNull = true
    var isEmptyText = false
    var isZero = false
}

/// What orders the messages of a channel.
enum DecoderOrder: String, CaseIterable, Sendable {
    case id, creation
    /// The place at which each was stated, or that `add: place` gave it.
    case place

    init(_ ordering: MessageOrdering) {
        self =
            switch ordering {
            case .byID: .id
            case .byCreation: .creation
            }
    }
}

/// How events that were seen before are found.
struct DecoderDedupe: Sendable {
    enum Rule: Sendable {
        /// An event whose key is one of the last so many, on any connection, changes nothing.
        case key(DecoderValue, keeping: Int)
        /// The number grows in a session; an event whose number does not exceed the last one changes nothing. A session
        /// begins with an event that fits the tests. A value names the session, where there are several at once.
        case grows(DecoderValue, begins: DecoderTests, of: DecoderValue?)
    }

    let rule: Rule
    /// Only these events are looked at.
    let when: DecoderTests
}

/// A payload, with the changes that it must give.
struct DecoderSample: Sendable {
    let line: Int
    let kind: EventKind
    let attributes: Attributes
    let payload: String
    /// The changes as `DecodedChange.json` writes them, in order; of what a client showed, the observation.
    let gives: [JSONValue]
}
